/* The probability mass of one position: for every token the target, the draft as accepted and
   rejected mass, and the output as accepted and recovered mass. */
(() => {
  const { number, plot, explained } = specdist;
  const LEGEND = [["target", "target: what plain decoding samples"], ["accepted", "accepted: drafted and kept"],
    ["rejected", "rejected: drafted and refused"], ["recovered", "recovered: drawn from the residual"]];

  /* One entry a token; `rest` is what the tokens that are not shown have together. */
  const tokensOf = (position) => {
    const tokens = (position.t ?? []).map(([name, target, drafted, tested, accepted, recovered, output, difference, residual]) => {
      const [short, whole] = specdist.data.texts[name];
      const kept = accepted === 1 ? drafted : accepted === 2 ? target : accepted;
      return { short, whole, within: position.w, target: number(target), drafted: number(drafted), tested: number(tested || drafted),
        accepted: number(kept), recovered: number(recovered), output: number(output || target),
        difference: number(difference), residual: number(residual) };
    });
    if (!position.rest) return tokens;
    const [count, target, drafted, accepted, recovered, output] = position.rest;
    const name = count === 1 ? "1 other" : `${count.toLocaleString("en")} others`;
    return [...tokens, { short: name, whole: `${count.toLocaleString("en")} other tokens together`, others: true,
      target: number(target), drafted: number(drafted), accepted: number(accepted), recovered: number(recovered), output: number(output) }];
  };

  const rowsOf = (token) => [["target", token.target], ["drafted", token.drafted], ["tested", token.tested],
    ["accepted", token.accepted], ["recovered", token.recovered], ["output", token.output],
    ["output − target", token.difference], ["residual", token.residual]]
    .filter(([, value]) => value).map(([label, value]) => [label, value.full]).concat(token.within ? [["each within", token.within]] : []);

  const legend = (names = LEGEND) => {
    const list = specdist.make("ul", { class: "legend", "aria-label": "legend" });
    for (const [kind, words] of names) {
      const svg = d3.create("svg").attr("viewBox", "0 0 18 12").attr("aria-hidden", "true");
      if (kind === "level") svg.append("line").attr("class", "level").attr("x1", 0).attr("x2", 18).attr("y1", 6).attr("y2", 6);
      else specdist.mass(svg, kind, 1, 1, 16, 10);
      list.append(specdist.make("li", {}, svg.node(), words));
    }
    return list;
  };

  const bar = (group, kind, x, width, y, from, to) => specdist.mass(group, kind, x, y(to), width, y(from) - y(to));

  const shortened = (text, room) => (text.length <= room ? text : `${text.slice(0, Math.max(room - 1, 1))}…`);

  /* Where the others outweigh every token, their bars would flatten the rest: they are told only. */
  const fits = (tokens) => {
    const most = (token) => d3.max([token.target, token.drafted, token.output], (value) => value.high);
    const shown = d3.max(tokens.filter((token) => !token.others), most) ?? 0;
    return tokens.filter((token) => !token.others || most(token) <= 1.5 * shown);
  };

  const massBars = (node, width, position) => {
    const tokens = fits(tokensOf(position));
    if (!tokens.length) return;
    const slot = (width - 40) / tokens.length;
    const turned = slot < 9 + 7.3 * d3.max(tokens, (token) => Math.min(token.short.length, 14));
    const longest = d3.max(tokens, (token) => Math.min(token.short.length, 14));
    const margin = { top: 26, right: 4, bottom: turned ? 16 + 5.6 * longest : 26, left: 36 };
    const height = margin.top + margin.bottom + (width < 480 ? 190 : 230);
    const svg = plot(width, height, "probability mass by token: target, draft, output; arrow keys move between tokens");
    const most = d3.max(tokens, (t) => d3.max([t.target, t.drafted, t.output], (value) => value.high)) || 1;
    const y = d3.scaleLinear([0, most * 1.04], [height - margin.bottom, margin.top]);
    svg.attr("data-scale", y(0) - y(1));
    const x = d3.scaleBand(d3.range(tokens.length), [margin.left, width - margin.right]).paddingInner(0.26).paddingOuter(0.13);
    svg.append("g").attr("class", "grid").attr("transform", `translate(${margin.left},0)`)
      .call(d3.axisLeft(y).ticks(5).tickSize(-(width - margin.left - margin.right)).tickFormat("")).attr("aria-hidden", "true");
    svg.append("g").attr("class", "axis").attr("transform", `translate(${margin.left},0)`).attr("aria-hidden", "true")
      .call(d3.axisLeft(y).ticks(5).tickSize(0)).call((axis) => axis.select(".domain").remove());
    const items = svg.selectAll(".item").data(tokens).join("g").attr("class", "item").attr("data-token", (token) => token.short);
    const third = x.bandwidth() / 3;
    const inner = Math.min(third * 0.9, 34);
    items.each(function draw(token, i) {
      const group = d3.select(this);
      const at = (n) => x(i) + x.bandwidth() / 2 + (n - 1.5) * inner * 1.1 + inner * 0.05;
      group.append("rect").attr("class", "ground").attr("x", x(i) - 3).attr("width", x.bandwidth() + 6)
        .attr("y", margin.top - 18).attr("height", height - margin.top - margin.bottom + 18).attr("rx", 3);
      const { target, drafted, accepted, recovered, output } = token;
      const kept = Math.min(accepted.value, drafted.value);
      bar(group, "target", at(0), inner, y, 0, target.value);
      bar(group, "accepted", at(1), inner, y, 0, kept);
      bar(group, "rejected", at(1), inner, y, kept, drafted.value);
      bar(group, "accepted", at(2), inner, y, 0, accepted.value);
      bar(group, "recovered", at(2), inner, y, accepted.value, accepted.value + recovered.value);
      group.append("line").attr("class", "base").attr("x1", at(0)).attr("x2", at(2) + inner).attr("y1", y(0)).attr("y2", y(0));
      if (token.difference && token.difference.value !== 0) {
        group.append("line").attr("class", "level").attr("x1", at(0) + inner).attr("x2", at(2) + inner + 3).attr("y1", y(target.value)).attr("y2", y(target.value));
        difference(group, token, at(2) + inner / 2, Math.min(y(Math.max(output.value, target.value, drafted.value)) - 6, height), slot);
      }
      name(group, token, x(i) + x.bandwidth() / 2, height - margin.bottom, turned, slot);
    });
    explained(items, (token) => token.whole, rowsOf);
    node.replaceChildren(svg.node());
  };

  const difference = (group, token, x, y, slot) => {
    const more = token.difference.value > 0;
    const text = (more ? "+" : "") + token.difference.label.replace("-", "−");
    const kind = more ? "more-than" : "less-than";
    group.append("path").attr("class", kind).attr("d", more ? "M-4 0L4 0L0 -7z" : "M-4 -7L4 -7L0 0z").attr("transform", `translate(${x},${y})`);
    if (text.length * 6.6 > slot + 8) return;
    group.append("text").attr("class", `difference-label ${kind}`).attr("x", x).attr("y", y - 10).attr("text-anchor", "middle").text(text);
  };

  const name = (group, token, x, y, turned, slot) => {
    const text = group.append("text").attr("class", token.others ? "soft" : "token");
    if (turned) text.attr("transform", `translate(${x + 4},${y + 12}) rotate(-50)`).attr("text-anchor", "end").text(shortened(token.short, 14));
    else text.attr("x", x).attr("y", y + 17).attr("text-anchor", "middle").text(shortened(token.short, Math.floor(slot / 7)));
  };

  Object.assign(specdist, { massBars, tokensOf, rowsOf, legend, shortened });
})();
