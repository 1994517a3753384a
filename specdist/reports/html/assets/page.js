"use strict";
/* The parts that every page uses: data, elements, tooltips, lines to copy. */
const specdist = { data: JSON.parse(document.getElementById("data").textContent) };

(() => {
  const make = (tag, attributes = {}, ...parts) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...parts.flat().filter((part) => part !== null && part !== undefined));
    return node;
  };

  const sign = (name) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `#icon-${name}`);
    svg.append(use);
    return svg;
  };

  /* One tooltip for the page. `rows` are [label, text] pairs. */
  const tip = make("div", { class: "tip", role: "status", hidden: true });
  document.body.append(tip);
  const hideTip = () => { tip.hidden = true; };
  const showTip = (node, title, rows) => {
    const facts = rows.flatMap(([label, text]) => [make("dt", {}, label), make("dd", { class: "exact" }, text)]);
    tip.replaceChildren(make("b", { class: "token" }, title), make("dl", {}, ...facts));
    tip.hidden = false;
    const at = node.getBoundingClientRect();
    const size = tip.getBoundingClientRect();
    const wide = document.documentElement.clientWidth;
    const left = Math.min(Math.max(4, at.left + at.width / 2 - size.width / 2), wide - size.width - 4);
    const above = at.top - size.height - 6;
    const top = above >= 4 ? above : Math.min(at.bottom + 6, innerHeight - size.height - 4);
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
  };

  /* Makes the elements of a plot say what they are: by pointer, by touch, by arrow keys. */
  const explained = (items, title, rows) => {
    const nodes = items.nodes();
    nodes.forEach((node, i) => {
      const datum = items.data()[i];
      const said = rows(datum).map(([label, text]) => `${label} ${text}`).join(", ");
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", `${title(datum)}: ${said}`);
      node.setAttribute("tabindex", i ? "-1" : "0");
      const show = () => showTip(node, title(datum), rows(datum));
      node.addEventListener("pointerenter", show);
      node.addEventListener("pointerleave", hideTip);
      node.addEventListener("click", show);
      node.addEventListener("focus", show);
      node.addEventListener("blur", hideTip);
      node.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const goal = { Home: 0, End: nodes.length - 1 }[event.key] ?? (step ? i + step : -1);
        if (event.key === "Escape") hideTip();
        if (!nodes[goal]) return;
        event.preventDefault();
        node.setAttribute("tabindex", "-1");
        nodes[goal].setAttribute("tabindex", "0");
        nodes[goal].focus();
      });
    });
  };

  const copy = async (button) => {
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.copy");
    if (button) copy(button);
  });
  const pasted = (command) => make("div", { class: "paste" },
    make("pre", { tabindex: "0" }, make("code", {}, command)),
    make("button", { type: "button", class: "copy", "aria-label": "copy this line" }, "copy"));

  /* Draws when the element comes near the view, and again when its width changes. */
  const waiting = new Map();
  let fixedWidth = 0;
  const drawn = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const width = Math.round(target.clientWidth);
    if (!fixedWidth && width && width !== target.drawnWidth) waiting.get(target)?.(width);
  }));
  const near = new IntersectionObserver((entries) => entries.forEach(({ target, isIntersecting }) => {
    if (isIntersecting) { near.unobserve(target); drawn.observe(target); }
  }), { rootMargin: "400px" });
  const drawLater = (node, draw) => {
    waiting.set(node, (width) => { node.drawnWidth = width; hideTip(); draw(node, width); });
    near.observe(node);
  };
  /* Everything that waits inside `root`, drawn at once. */
  const drawNow = (root, width) => waiting.forEach((draw, node) => {
    if (root.contains(node)) draw(width ? (node.closest(".pair") ? width / 2 : width) : Math.round(node.clientWidth) || 640);
  });
  addEventListener("beforeprint", () => {
    fixedWidth = 680;
    document.querySelectorAll("details[data-print]").forEach((node) => { node.wasOpen = node.open; node.open = true; });
    specdist.unfold?.();
    drawNow(document.body, fixedWidth);
  });
  addEventListener("afterprint", () => {
    fixedWidth = 0;
    document.querySelectorAll("details[data-print]").forEach((node) => { node.open = node.wasOpen ?? node.open; });
    waiting.forEach((draw, node) => { if (node.drawnWidth && node.clientWidth) draw(Math.round(node.clientWidth)); });
  });
  const plot = (width, height, label) => d3.create("svg").attr("class", "plot").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width).attr("height", height).attr("role", "group").attr("aria-label", label);

  /* Lines and dots that tell masses apart without colour; as paths, for patterns print as bitmaps. */
  const TEXTURES = {
    rejected: (x, y, w, h) => d3.range(x + y + 3, x + y + w + h, 5)
      .map((c) => [Math.max(x, c - y - h), Math.min(x + w, c - y), c]).map(([from, to, c]) => `M${from} ${c - from}L${to} ${c - to}`).join(""),
    recovered: (x, y, w, h) => d3.range(y + 2.5, y + h - 1, 4.5)
      .flatMap((at, i) => d3.range(x + (i % 2 ? 4.5 : 2.25), x + w - 1, 4.5).map((from) => `M${from} ${at}h.01`)).join(""),
  };
  /* A bar of one kind of mass; nothing is drawn of no mass. */
  const mass = (group, kind, x, y, width, height) => {
    if (!(width > 0 && height > 0)) return;
    group.append("rect").attr("class", `mass fill-${kind}`).attr("data-kind", kind).attr("x", x).attr("y", y).attr("width", width).attr("height", height);
    if (TEXTURES[kind]) group.append("path").attr("class", `texture-${kind}`).attr("d", TEXTURES[kind](x, y, width, height));
  };

  Object.assign(specdist, { mass, make, sign, showTip, hideTip, explained, pasted, drawLater, drawNow, plot });
})();
