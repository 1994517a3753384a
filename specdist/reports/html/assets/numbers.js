/* Numbers as they are packed: a label; [label, exact, bound, closed form]; [least, most, label]. */
(() => {
  const ofLabel = (label) => {
    const near = /^(-?1) ([-+]) (\S+)$/.exec(label);
    if (near) return Number(near[1]) + (near[2] === "-" ? -1 : 1) * Number(near[3]);
    const cut = label.indexOf("/");
    return cut < 0 ? Number(label) : Number(label.slice(0, cut)) / Number(label.slice(cut + 1));
  };
  const decimal = (value) => {
    if (value === 0) return "0";
    const text = Math.abs(value) < 1e-4 ? value.toExponential(3) : value.toPrecision(4);
    return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
  };
  /* {value, label, told, full, low, high}: `told` is for a line of text, `full` for a tooltip: it
     gives the exact value however long it is. */
  const number = (packed) => {
    if (packed === null || packed === undefined) return null;
    if (Array.isArray(packed) && typeof packed[0] === "number") {
      const [low, high, label] = packed;
      return { value: low, low, high, label, told: label, full: label, open: high - low > 1e-12 };
    }
    const [label, exact, bound, form] = Array.isArray(packed) ? packed : [packed];
    const value = ofLabel(label);
    const shown = exact || label;
    const both = shown.includes("/") ? `${shown} = ${exact ? label : decimal(value)}` : shown;
    const before = form ? `${form} = ` : "";
    const after = bound ? ` (within ${bound})` : "";
    const told = before + (label.includes("/") ? `${label} = ${decimal(value)}` : label) + after;
    return { value, low: value, high: value, label, told, full: before + both + after, open: false };
  };
  Object.assign(specdist, { number, decimal });
})();
