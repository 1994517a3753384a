/* Acceptance rates as the report holds them: every position of every step is a mark. */
(() => {
  const { number, plot, make, drawLater, explained } = specdist;

  const placesOf = (step) => [...(step.p ?? []), ...(step.b ?? [])].sort((a, b) => a.i - b.i);
  const marksOf = (steps) => steps.flatMap((step, at) => [
    ...placesOf(step).map((place) => ({ step, at, i: place.i, rate: number(place.a), verdict: place.v, tv: number(place.tv) })),
    ...(step.j?.s ?? []).map((packed, i) => ({ step, at, i, rate: number(packed), verdict: step.v, tv: number(step.tv), joint: true })),
  ]);
  const rows = (mark) => [[mark.joint ? `at least ${mark.i + 1} accepted` : "acceptance rate", mark.rate.full], ["total variation", mark.tv?.full ?? "-"], ["verdict", mark.verdict]];
  const title = (mark) => `step ${mark.step.id}, ${mark.joint ? "draft token" : "position"} ${mark.i}`;

  const frame = (width, height, label, x, y, xTicks, margin) => {
    const svg = plot(width, height, label);
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`).attr("aria-hidden", "true")
      .call(d3.axisLeft(y).ticks(5).tickSize(-(width - margin.left - margin.right)).tickFormat(""));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`).attr("aria-hidden", "true").call(d3.axisLeft(y).ticks(5).tickSize(0)).call((axis) => axis.select(".domain").remove());
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`).attr("aria-hidden", "true").call(xTicks);
    return svg;
  };

  /* Few marks speak for themselves by pointer and key; of many the nearest one does, by pointer. */
  const MANY = 400;
  const explainMarks = (svg, marks, marked, cx, cy) => {
    if (marks.length <= MANY) { explained(marked, title, rows); return; }
    const find = d3.quadtree(marks, cx, cy);
    const ring = svg.append("circle").attr("class", "pick").attr("r", 6).attr("visibility", "hidden");
    svg.on("pointermove", (event) => {
      const mark = find.find(...d3.pointer(event, svg.node()), 30);
      ring.attr("visibility", mark ? "visible" : "hidden");
      if (!mark) { specdist.hideTip(); return; }
      ring.attr("cx", cx(mark)).attr("cy", cy(mark));
      specdist.showTip(ring.node(), title(mark), rows(mark));
    }).on("pointerleave", () => { ring.attr("visibility", "hidden"); specdist.hideTip(); })
      .on("click", (event) => {
        const mark = find.find(...d3.pointer(event, svg.node()), 30);
        if (mark) specdist.openStep?.(mark.at);
      });
  };

  const drawMarks = (svg, marks, cx, cy, r) => {
    const items = svg.append("g").selectAll("g").data(marks).join("g").attr("class", "item").attr("transform", (mark) => `translate(${cx(mark)},${cy(mark)})`);
    items.append("circle").attr("class", "ground").attr("r", r + 5);
    items.filter((mark) => mark.rate.open).append("line").attr("class", "base").attr("y1", (mark) => mark.toLow).attr("y2", (mark) => mark.toHigh);
    items.append((mark) => document.createElementNS("http://www.w3.org/2000/svg", mark.verdict === "different" ? "path" : "circle")).attr("class", (mark) => `dot is-${mark.verdict}`);
    items.selectAll("circle.dot").attr("r", r).attr("fill-opacity", marks.length > 60 ? 0.65 : 1);
    items.selectAll("path.dot").attr("d", `M0 ${-r - 2}L${r + 2} ${r + 1}L${-r - 2} ${r + 1}z`);
    explainMarks(svg, marks, items, cx, cy);
  };

  const meanLine = (svg, mean, y, left, right) => {
    if (!mean) return;
    svg.append("line").attr("class", "mean").attr("pointer-events", "none").attr("x1", left).attr("x2", right).attr("y1", y(mean.value)).attr("y2", y(mean.value));
    svg.append("text").attr("class", "soft mean-label").attr("pointer-events", "none").attr("x", right).attr("y", y(mean.value) - 5).attr("text-anchor", "end").text(`mean ${mean.label}`);
  };

  const margin = { top: 14, right: 10, bottom: 36, left: 34 };
  const HEIGHT = 230;
  const scaleY = (marks) => d3.scaleLinear([Math.min(0, d3.min(marks, (mark) => mark.rate.low)), Math.max(1, d3.max(marks, (mark) => mark.rate.high))], [HEIGHT - margin.bottom, margin.top]);
  const place = (marks, y) => marks.forEach((mark) => { mark.toLow = y(mark.rate.low) - y(mark.rate.value); mark.toHigh = y(mark.rate.high) - y(mark.rate.value); });
  const named = (svg, width, text) => svg.append("text").attr("class", "soft").attr("x", (width + margin.left) / 2).attr("y", HEIGHT - 4).attr("text-anchor", "middle").text(text);

  /* Positions along a step: a step line where one step is shown, marks side by side for several. */
  const alongPositions = (node, width, marks, steps) => {
    const y = scaleY(marks);
    place(marks, y);
    const indices = d3.range(d3.max(marks, (mark) => mark.i) + 1);
    const x = d3.scaleBand(indices, [margin.left, width - margin.right]).padding(0.15);
    const shown = new Set(indices.filter((i) => i % Math.ceil(indices.length / (width / 36)) === 0));
    const svg = frame(width, HEIGHT, "acceptance rate along the positions of a step", x, y, d3.axisBottom(x).tickValues([...shown]).tickSize(4), margin);
    const spread = x.bandwidth() * 0.42;
    const cx = (mark) => x(mark.i) + x.bandwidth() / 2 + (steps > 1 ? spread * (2 * mark.at / (steps - 1) - 1) : 0);
    if (steps === 1) {
      const ends = marks.flatMap((mark) => [[x(mark.i) - x.step() * 0.075, mark], [x(mark.i) + x.bandwidth() + x.step() * 0.075, mark]]);
      svg.append("path").attr("class", "line").attr("d", d3.line(([at]) => at, ([, mark]) => y(mark.rate.value))(ends));
    }
    drawMarks(svg, marks, cx, (mark) => y(mark.rate.value), marks.length > 200 ? 2 : 3.5);
    named(svg, width, "position within the step");
    node.replaceChildren(svg.node());
  };

  const overSteps = (node, width, marks, steps) => {
    const y = scaleY(marks);
    place(marks, y);
    const x = d3.scaleLinear([-0.5, steps - 0.5], [margin.left, width - margin.right]);
    const ids = specdist.data.steps.map((step) => step.id);
    const own = new Set(ids).size === ids.length;
    const tick = (at) => (!Number.isInteger(at) || !(at in ids) ? "" : own ? specdist.shortened(ids[at], 8) : String(at + 1));
    const ticks = d3.axisBottom(x).ticks(Math.min(steps, width / 70)).tickFormat(tick).tickSize(4);
    const svg = frame(width, HEIGHT, "acceptance rate over the steps", x, y, ticks, margin);
    drawMarks(svg, marks, (mark) => x(mark.at), (mark) => y(mark.rate.value), marks.length > 200 ? 2 : 3.5);
    meanLine(svg, number(specdist.data.mean), y, margin.left, width - margin.right);
    named(svg, width, own ? "step" : "steps in the order of the report");
    node.replaceChildren(svg.node());
  };

  const figure = (caption, draw, marks, steps) => {
    const node = make("div");
    drawLater(node, (at, width) => draw(at, width, marks, steps));
    return make("figure", {}, make("figcaption", {}, caption), node);
  };

  const overview = (root) => {
    const { steps } = specdist.data;
    const marks = marksOf(steps);
    const joint = marks.every((mark) => mark.joint);
    if (marks.length < 2) { root.closest("section").remove(); return; }
    const word = joint ? "probability that at least so many draft tokens are accepted" : "acceptance rate";
    if (marks.some((mark) => mark.i > 0)) root.append(figure(`${word} along the positions of a step${steps.length > 1 ? ", the steps from left to right" : ""}`, alongPositions, marks, steps.length));
    if (steps.length > 1) root.append(figure(`${word} over the steps, a mark a position; triangles differ`, overSteps, marks, steps.length));
  };
  Object.assign(specdist, { overview, alongPositions, marksOf });
})();
