/* The acceptance rate over the last axis of a sweep, a line for each setting of the others. */
(() => {
  const { data, plot, explained, drawLater } = specdist;
  const margin = { left: 44, right: 14, top: 12, bottom: 40 };
  const mount = document.getElementById("sweep");

  const draw = (node, width) => {
    const height = 320;
    const [least, most] = d3.extent(data.places);
    const x = d3.scaleLinear([least, most === least ? least + 1 : most], [margin.left, width - margin.right]);
    const y = d3.scaleLinear([0, data.most], [height - margin.bottom, margin.top]);
    const svg = plot(width, height, `${data.measure} over ${data.axis}`);
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`).attr("aria-hidden", "true")
      .call(d3.axisLeft(y).ticks(5).tickSize(-(width - margin.left - margin.right)).tickFormat(""));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`).attr("aria-hidden", "true").call(d3.axisLeft(y).ticks(5).tickSize(0));
    const ticks = d3.axisBottom(x);
    if (data.numeric) ticks.ticks(Math.max(2, Math.round(width / 90)));
    else ticks.tickValues(data.places).tickFormat((place) => data.values[place]);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - margin.bottom})`).attr("aria-hidden", "true").call(ticks);
    svg.append("text").attr("class", "label").attr("x", width / 2).attr("y", height - 6).attr("text-anchor", "middle").attr("fill", "currentColor").text(data.axis);

    data.lines.forEach((line, at) => {
      const marks = line.points.map(([low, rate, variation, verdict, high], i) => ({ i, low, high, rate, variation, verdict }));
      const known = (mark) => mark.low !== null;
      const path = d3.line((mark) => x(data.places[mark.i]), (mark) => y(mark.low)).defined(known);
      const opacity = 1 - 0.7 * at / Math.max(1, data.lines.length);
      svg.append("path").attr("d", path(marks)).attr("fill", "none").attr("stroke", "currentColor").attr("stroke-opacity", opacity).attr("stroke-width", 1.5);
      const items = svg.append("g").selectAll("g").data(marks.filter(known)).join("g").attr("class", "item mark")
        .attr("data-rate", (mark) => mark.low)
        .attr("transform", (mark) => `translate(${x(data.places[mark.i])},${y(mark.low)})`);
      items.append("line").attr("y2", (mark) => y(mark.high) - y(mark.low)).attr("stroke", "currentColor");
      items.append((mark) => document.createElementNS("http://www.w3.org/2000/svg", mark.verdict === "different" ? "path" : "circle")).attr("class", (mark) => `dot is-${mark.verdict}`);
      items.selectAll("circle.dot").attr("r", 3.5);
      items.selectAll("path.dot").attr("d", "M0 -5.5L5.5 4.5L-5.5 4.5z");
      const title = (mark) => `${data.axis} ${data.values[mark.i]}${line.name ? `, ${line.name}` : ""}`;
      explained(items, title, (mark) => [[data.measure, mark.rate], ["total variation", mark.variation], ["verdict", mark.verdict]]);
    });
    node.replaceChildren(svg.node());
  };
  drawLater(mount, draw);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
