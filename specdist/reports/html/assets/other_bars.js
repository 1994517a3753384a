/* Lists of bars that lie: differences with their sign, two laws side by side, intervals. */
(() => {
  const { number, plot, explained, shortened } = specdist;
  const ROW = 22;

  const rowsPlot = (node, width, items, label, options) => {
    const room = Math.min(Math.max(...items.map((item) => item.short.length)), width < 480 ? 14 : 26);
    const left = 12 + room * 7.3;
    const right = options.right ?? 92;
    const row = options.row ?? ROW;
    const height = items.length * row + (options.axis ? 28 : 8);
    const svg = plot(width, height, label);
    const x = options.scale([left, width - right]);
    svg.attr("data-scale", x(1) - x(0));
    if (options.axis) {
      svg.append("g").attr("class", "axis").attr("transform", `translate(0,${items.length * row + 6})`).attr("aria-hidden", "true")
        .call(d3.axisBottom(x).ticks(width < 480 ? 3 : 6).tickSize(4));
    }
    const groups = svg.selectAll(".item").data(items).join("g").attr("class", "item")
      .attr("transform", (item, i) => `translate(0,${i * row + 4})`).attr("data-token", (item) => item.short);
    groups.append("rect").attr("class", "ground").attr("width", width).attr("height", row - 1).attr("rx", 3);
    groups.append("text").attr("class", "token").attr("x", left - 8).attr("y", row / 2 + 4).attr("text-anchor", "end").text((item) => shortened(item.short, room));
    groups.each(function draw(item) { options.draw(d3.select(this), item, x, row, width); });
    explained(groups, (item) => item.whole, options.rows);
    node.replaceChildren(svg.node());
  };

  const band = (group, kind, from, to, y, height) => specdist.mass(group, kind, from, y, to - from, height);

  /* Sorted by size: where the output has more than the target, and where less. */
  const differenceBars = (node, width, items) => {
    const sorted = d3.sort(items.filter((item) => item.difference?.value), (a, b) => Math.abs(b.difference.value) - Math.abs(a.difference.value));
    if (!sorted.length) return false;
    const most = Math.abs(sorted[0].difference.value);
    rowsPlot(node, width, sorted, "output minus target, largest first; arrow keys move between tokens", {
      scale: (range) => d3.scaleLinear([-most, most], range),
      rows: (item) => (item.rows ? item.rows() : specdist.rowsOf(item)),
      draw: (group, item, x, row, wide) => {
        const { value, label } = item.difference;
        const kind = value > 0 ? "more-than" : "less-than";
        group.append("rect").attr("class", `mass ${kind}`).attr("data-kind", "difference").attr("x", Math.min(x(0), x(value)))
          .attr("width", Math.abs(x(value) - x(0))).attr("y", 4).attr("height", row - 9);
        group.append("line").attr("class", "base").attr("x1", x(0)).attr("x2", x(0)).attr("y1", -2).attr("y2", row - 1);
        group.append("text").attr("class", `difference-label ${kind}`).attr("x", wide - 4).attr("y", row / 2 + 4).attr("text-anchor", "end")
          .text((value > 0 ? "▲ +" : "▼ ") + label.replace("-", "−"));
      },
    });
    return true;
  };

  /* Target above output, for a bonus row and for the marginals and outputs of a joint step. */
  const lawsOf = (tokens) => tokens.map(([name, target, output, difference]) => {
    const [short, whole] = specdist.data.texts[name];
    const item = { short, whole, target: number(target), output: number(output || target), difference: number(difference) };
    item.rows = () => [["target", item.target.full], ["output", item.output.full], ["output − target", item.difference.full]];
    return item;
  });
  const lawBars = (node, width, items) => rowsPlot(node, width, items, "target and output by token; arrow keys move between tokens", {
    scale: (range) => d3.scaleLinear([0, d3.max(items, (item) => Math.max(item.target.value, item.output.value)) || 1], range),
    rows: (item) => item.rows(), row: 28,
    draw: (group, item, x, row, wide) => {
      band(group, "target", x(0), x(item.target.value), 4, 9);
      band(group, "output", x(0), x(item.output.value), 14, 9);
      group.append("line").attr("class", "base").attr("x1", x(0)).attr("x2", x(0)).attr("y1", 1).attr("y2", row - 2);
      group.append("text").attr("class", "soft").attr("x", wide - 4).attr("y", row / 2 + 4).attr("text-anchor", "end").text(item.output.label);
    },
  });

  /* What is known only to lie between two ends: filled up to the lower, outlined to the upper. */
  const intervalBars = (node, width, tokens, columns) => {
    const items = tokens.map(([name, ...values]) => {
      const [short, whole] = specdist.data.texts[name];
      return { short, whole, values: values.map(number) };
    });
    const most = d3.max(items, (item) => d3.max(item.values, (value) => value.high)) || 1;
    const step = columns.length > 2 ? 9 : 11;
    rowsPlot(node, width, items, "masses as intervals by token; arrow keys move between tokens", {
      scale: (range) => d3.scaleLinear([0, most], range), axis: true, right: 12, row: columns.length * step + 10,
      rows: (item) => columns.map(([, label], i) => [label, item.values[i].full]),
      draw: (group, item, x, row) => {
        item.values.forEach((value, i) => {
          band(group, columns[i][0], x(0), x(value.low), 4 + i * step, step - 2);
          if (value.open) {
            group.append("rect").attr("class", `fill-open open-${columns[i][0]}`).attr("data-kind", `open-${columns[i][0]}`)
              .attr("x", x(value.low)).attr("width", Math.max(x(value.high) - x(value.low), 1)).attr("y", 4.5 + i * step).attr("height", step - 3);
          }
        });
        group.append("line").attr("class", "base").attr("x1", x(0)).attr("x2", x(0)).attr("y1", 1).attr("y2", row - 3);
      },
    });
  };

  /* The law a rejected draft token is replaced from. */
  const residualBars = (node, width, items) => {
    const reached = d3.sort(items.filter((item) => item.residual?.value > 0), (a, b) => b.residual.value - a.residual.value);
    if (!reached.length) return false;
    rowsPlot(node, width, reached, "residual by token; arrow keys move between tokens", {
      scale: (range) => d3.scaleLinear([0, reached[0].residual.value], range), rows: specdist.rowsOf,
      draw: (group, item, x, row, wide) => {
        band(group, "recovered", x(0), x(item.residual.value), 3, row - 8);
        group.append("line").attr("class", "base").attr("x1", x(0)).attr("x2", x(0)).attr("y1", -2).attr("y2", row - 1);
        group.append("text").attr("class", "soft").attr("x", wide - 4).attr("y", row / 2 + 4).attr("text-anchor", "end").text(item.residual.label);
      },
    });
    return true;
  };

  Object.assign(specdist, { differenceBars, lawBars, lawsOf, intervalBars, residualBars });
})();
