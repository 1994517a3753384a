/* Every step on a line, opened by click or key; rows are made as they are scrolled to. */
(() => {
  const { make, sign, number } = specdist;
  const AT_ONCE = 100;
  const PRINTED = 10;
  const VERDICTS = ["different", "undecided", "within-tolerance", "equal"];

  const rateOf = (step) => {
    const places = [...(step.p ?? []), ...(step.b ?? [])];
    if (step.j) return ["accepted", number(step.j.a)?.label];
    if (places.length === 1) return ["acceptance", number(places[0].a).label];
    return ["positions", String(places.length)];
  };
  const identsOf = (step) => [...new Set(step.f.filter(([kind]) => kind !== "note").map(([, ident]) => ident))].join(", ");
  const open = (row) => { if (row.open && !row.querySelector(".inside")) row.append(specdist.inside(row.step)); };

  const rowOf = (step) => {
    const [label, rate] = rateOf(step);
    const cell = (name, value) => make("span", { class: "figure-of" }, `${name} `, make("b", {}, value ?? "-"));
    const row = make("details", { class: "step" }, make("summary", {},
      make("span", { class: `state is-${step.v}` }, sign(step.v), step.v.replace("-", " ")), make("bdi", { class: "id" }, `step ${step.id}`),
      cell(label, rate), cell("total variation", number(step.tv)?.label), make("span", { class: "idents" }, identsOf(step))));
    row.step = step;
    row.addEventListener("toggle", () => open(row));
    return row;
  };

  const textOf = (step) => `${step.id} ${step.v} ${specdist.data.texts[step.src]} ${step.f.map(([, ident]) => ident).join(" ")}`.toLowerCase();

  const stepList = (root) => {
    const { steps } = specdist.data;
    const list = make("div", { class: "steps" });
    const count = make("span", { class: "soft", role: "status" });
    const search = make("input", { type: "search", placeholder: "id, file or finding", "aria-label": "filter the steps by id, file or finding" });
    const present = VERDICTS.filter((verdict) => steps.some((step) => step.v === verdict));
    const boxes = present.map((verdict) => make("input", { type: "checkbox", checked: true, value: verdict }));
    const found = () => {
      const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      return steps.filter((step) => wanted.has(step.v) && words.every((word) => textOf(step).includes(word)));
    };
    let left = [];
    const end = make("div", { class: "nothing" });
    const more = () => {
      list.append(...left.splice(0, AT_ONCE).map(rowOf));
      end.remove();
      if (left.length) { end.textContent = `${left.length} more steps`; list.append(end); }
    };
    const fill = () => {
      const shown = found();
      left = [...shown];
      list.replaceChildren();
      if (shown.length) more();
      else list.append(make("p", { class: "nothing" }, "no step fits the filter"));
      count.textContent = `${shown.length.toLocaleString("en")} of ${steps.length.toLocaleString("en")} steps`;
    };
    new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) { more(); } }, { rootMargin: "600px" }).observe(end);
    const filters = make("form", { class: "filters", role: "search" }, search,
      make("fieldset", {}, make("legend", { class: "hidden-label" }, "verdicts"), boxes.map((box) => make("label", {}, box, make("span", { class: `is-${box.value}` }, sign(box.value)), box.value.replace("-", " ")))), count);
    filters.addEventListener("input", fill);
    filters.addEventListener("submit", (event) => event.preventDefault());
    fill();
    if (steps.length > 1) root.append(filters);
    root.append(list);
    if (steps.length && !document.querySelector(".mount")) { const row = list.firstElementChild; row.open = true; open(row); }
    specdist.openStep = (at) => {
      const step = steps[at];
      while (left.includes(step)) more();
      const row = [...list.children].find((each) => each.step === step);
      if (row) { row.open = true; open(row); row.scrollIntoView({ block: "start" }); row.firstElementChild.focus({ preventScroll: true }); }
    };
    specdist.unfold = () => {
      while (left.length) more();
      const rows = [...list.querySelectorAll(".step")];
      const failed = rows.filter((row) => row.step.v !== "equal");
      (failed.length ? failed : rows.slice(0, 3)).slice(0, PRINTED).forEach((row) => { row.open = true; open(row); });
    };
  };
  Object.assign(specdist, { stepList });
})();
