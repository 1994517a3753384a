/* What is inside an opened step: figures, pictures, the numbers as a table, roles, findings. */
(() => {
  const { make, sign, number, drawLater, pasted } = specdist;
  const texts = () => specdist.data.texts;
  const state = (verdict) => make("span", { class: `state is-${verdict}` }, sign(verdict), ` ${verdict.replace("-", " ")}`);

  const sums = (pairs) => make("ul", { class: "sums" }, pairs.filter(([, value]) => value)
    .map(([label, value]) => make("li", {}, make("span", { class: "soft" }, `${label} `), make("span", { class: "number", title: value.full }, value.told ?? value))));

  const picture = (caption, draw, before = null) => {
    const node = make("div");
    drawLater(node, draw);
    return make("figure", {}, make("figcaption", {}, caption), before, node);
  };

  const table = (caption, titles, lines, text = 1) => make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", {}, titles.map((title, i) => make("th", { scope: "col", class: i < text ? null : "number" }, title)))),
      make("tbody", {}, lines.map((line) => make("tr", {}, line.map((cell, i) => (i
        ? make("td", { class: i < text ? "text" : "number" }, cell) : make("th", { scope: "row", class: "token" }, cell))))))));
  /* A table that is built when it is opened, and in print only where it is open. */
  const folded = (words, build) => {
    const node = make("details", { class: "more" }, make("summary", {}, words));
    node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(build()); });
    return node;
  };
  const said = (value) => (value ? make("span", { title: value.full === value.label ? null : value.full }, value.label) : "-");

  const roles = (packed, hinted = true) => {
    if (!packed) return null;
    const [recipes, supports, lines] = packed;
    const hint = texts()[lines];
    const build = () => table("what fills each role", ["role", "filled by", "tokens possible"],
      texts()[recipes].map(([role, side, recipe], i) => [role, `${side}, ${recipe}`, supports[i] === null ? "any" : supports[i].toLocaleString("en")]), 2);
    return [hint && hinted ? make("pre", { "aria-label": "roles that disagree" }, hint) : null, folded("roles", build)];
  };

  const vocabulary = (size) => (size === null ? "a vocabulary of unknown size" : `${size.toLocaleString("en")} tokens in vocabulary`);
  const heading = (title, verdict) => make("h4", {}, `${title}: `, state(verdict));

  const others = (tokens) => {
    const last = tokens.at(-1);
    return last?.others ? make("p", { class: "soft" }, `${last.whole}: ${specdist.rowsOf(last).map(([label, text]) => `${label} ${text}`).join(", ")}`) : null;
  };

  const numbers = (tokens) => folded("the numbers of this picture", () => table("masses by token",
    ["token", "target", "drafted", "tested", "accepted", "recovered", "output", "output − target", "residual"],
    tokens.map((token) => [token.whole, ...[token.target, token.drafted, token.tested, token.accepted, token.recovered, token.output, token.difference, token.residual].map(said)])));

  const pictures = (position) => {
    const tokens = specdist.tokensOf(position);
    if (!tokens.length) return [make("p", { class: "soft" }, "the masses of its tokens are not on this page")];
    const differs = tokens.some((token) => token.difference?.value);
    const reached = tokens.some((token) => token.residual?.value > 0);
    const keys = differs ? [["target", "target: what plain decoding samples"], ["accepted", "accepted: drafted and kept"], ["rejected", "rejected: drafted and refused"],
      ["recovered", "recovered: drawn from the residual"], ["level", "level of the target"]] : undefined;
    const main = picture("each token: target, draft (accepted + rejected), output (accepted + recovered)", (node, width) => specdist.massBars(node, width, position), specdist.legend(keys));
    const pair = [];
    if (differs) pair.push(picture("where the difference sits: output − target, largest first", (node, width) => specdist.differenceBars(node, width, tokens)));
    if (reached) pair.push(picture("residual: the law that a rejected token is replaced from", (node, width) => specdist.residualBars(node, width, tokens)));
    const none = number(position.r)?.value === 0 ? make("p", { class: "soft" }, "a rejection has probability 0: the residual is unreachable") : null;
    return [main, others(tokens), pair.length ? make("div", { class: "pair" }, pair) : null, none, numbers(tokens)];
  };

  const positionPart = (position, alone, hinted) => {
    const pairs = [["acceptance rate", number(position.a)], ["with every role repaired", position.h && JSON.stringify(position.h) !== JSON.stringify(position.a) ? number(position.h) : null],
      ["rejected", number(position.r)], ["recovered", number(position.c)], ["total variation", number(position.tv)], ...(position.also ?? []).map(([name, value]) => [name, number(value)])];
    return make("section", { class: "position" }, heading(alone ? `position ${position.i}, ${vocabulary(position.n)}` : `position ${position.i}`, position.v), sums(pairs), pictures(position), roles(position.ro, hinted));
  };

  const COLUMNS = [["target", "target"], ["rejected", "drafted"], ["accepted", "accepted"], ["output", "output"]];
  const boundedPart = (position, hinted) => {
    const variation = position.same ? "0, whatever is left open" : number(position.tv);
    const pairs = [["acceptance rate", number(position.a)], ["total variation", variation], ["target mass of unlisted tokens", number(position.tr)], ["draft mass of unlisted tokens", number(position.dr)]];
    return make("section", { class: "position" }, heading(`position ${position.i}, known in part`, position.v), sums(pairs), intervals(position.t, COLUMNS), roles(position.ro, hinted));
  };
  const intervals = (tokens, columns) => {
    if (!tokens?.length) return null;
    const keys = columns.map(([kind, label]) => [kind, label]);
    const build = () => table("intervals by token", ["token", ...columns.map(([, label]) => label)], tokens.map(([name, ...values]) => [texts()[name][1], ...values.map((value) => number(value).label)]));
    return [picture("listed tokens: filled to the least, dashed to the most that is possible", (node, width) => specdist.intervalBars(node, width, tokens, columns), specdist.legend(keys)),
      folded("the numbers of this picture", build)];
  };

  const laws = (caption, packed) => {
    if (!packed?.length) return null;
    const items = specdist.lawsOf(packed);
    const differs = items.some((item) => item.difference.value);
    return [picture(caption, (node, width) => specdist.lawBars(node, width, items), specdist.legend([["target", "target"], ["output", "output"]])),
      differs ? picture("where the difference sits: output − target, largest first", (node, width) => specdist.differenceBars(node, width, items)) : null,
      folded("the numbers of this picture", () => table(caption, ["", "target", "output", "output − target"], items.map((item) => [item.whole, said(item.target), said(item.output), said(item.difference)])))];
  };
  const bonusPart = (bonus) => make("section", { class: "position" }, heading("bonus row", bonus.v), sums([["total variation", number(bonus.tv)]]), laws("bonus token: target and output", bonus.t), roles(bonus.ro));
  const boundedBonusPart = (bonus) => make("section", { class: "position" }, heading("bonus row, known in part", bonus.v),
    sums([["total variation", bonus.same ? "0, whatever is left open" : number(bonus.tv)]]), intervals(bonus.t, [["target", "target"], ["output", "output"]]), roles(bonus.ro));

  /* Beside a finding the whole outputs alone, which differ; every place of the output in the list of steps. */
  const jointPart = (joint, hinted) => {
    const whole = laws("whole outputs of largest difference, or of largest mass", joint.q);
    if (!hinted) return make("section", { class: "position" }, whole);
    const lengths = (joint.l ?? []).map((packed, i) => [String(i), said(number(packed)), i ? said(number(joint.s[i - 1])) : "1"]);
    const places = (joint.m ?? []).map(([i, variation, tokens]) => make("section", { class: "position" },
      make("h4", {}, `place ${i} of the output`), sums([["total variation", number(variation)]]), laws(`token at place ${i}, whatever stands before it`, tokens)));
    return make("section", { class: "position" }, make("p", {}, [joint.shape, joint.found].filter(Boolean).join("; ")),
      sums([["expected accepted tokens", number(joint.a)], ["total variation", number(joint.tv)]]),
      joint.facts?.length ? make("ul", {}, joint.facts.map((text) => make("li", {}, text))) : null,
      lengths.length ? table("how many draft tokens are accepted", ["accepted", "probability", "at least"], lengths) : null,
      whole, places, roles(joint.ro, hinted));
  };

  const findingPart = ([kind, ident, position, message, notes, causes, reproduce]) => make("div", { class: "finding" },
    make("p", {}, make("span", { class: `is-${kind}` }, sign(kind)), " ", make("span", { class: "ident" }, `${kind}[${ident}]`),
      position === null ? "" : position < 0 ? " bonus row" : ` position ${position}`, message === undefined ? "" : `: ${texts()[message]}`),
    notes?.length ? make("ul", {}, notes.map((note) => make("li", {}, texts()[note]))) : null,
    causes?.length ? [make("p", {}, "proven cause, each a smallest repair:"), make("ol", {}, causes.map((cause) => make("li", {}, texts()[cause])))] : null,
    reproduce ? pasted(reproduce) : null);

  const wordsOf = (step) => {
    const source = texts()[step.src];
    return [make("p", { class: "place soft" }, [source, step.rule === undefined ? null : `rule ${texts()[step.rule]}`, step.opt === undefined ? null : texts()[step.opt]].filter(Boolean).join("; ")),
      step.len ? sums([["mean acceptance length, bonus token included", number(step.len)]]) : null];
  };

  /* `only` picks one position, -1 the bonus row, for the picture of a finding. */
  const partsOf = (step, only = null, hinted = true) => {
    const wanted = (i) => only === null || only === i;
    const alone = (step.p?.length ?? 0) === 1;
    return [...(step.p ?? []).filter((p) => wanted(p.i)).map((p) => positionPart(p, alone, hinted)), ...(step.b ?? []).filter((p) => wanted(p.i)).map((p) => boundedPart(p, hinted)),
      step.bonus && wanted(-1) ? bonusPart(step.bonus) : null, step.bbonus && wanted(-1) ? boundedBonusPart(step.bbonus) : null,
      step.j ? jointPart(step.j, hinted) : null].filter(Boolean);
  };
  const inside = (step) => make("div", { class: "inside" }, wordsOf(step), step.f.length ? step.f.map(findingPart) : null, partsOf(step),
    step.path ? make("pre", {}, step.path) : null, step.cost ? [make("h4", {}, "cost"), make("pre", {}, step.cost)] : null);
  Object.assign(specdist, { partsOf, inside, state });
})();
