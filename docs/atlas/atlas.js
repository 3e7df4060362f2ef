"use strict";
/* The flip atlas: one data value, five views. Texts from the data only ever become text nodes. */
(() => {
  const { element, frame, mark, group, whisker, searchableTable, keepDrawn } = replearnPage;
  const percent = (value, digits) => replearnPage.percent(value, digits).replace(" ", "\u00a0");
  const atlas = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const models = Object.keys(atlas.models);
  const tables = new Map(atlas.tables.map((table) => [table.name, table]));
  const nRetrainings = atlas.effort.n_retrainings;
  const usefulCells = atlas.cells.filter((cell) => !cell.one_class);
  const shown = { share: atlas.shares.length - 1, models: new Set(models), cell: null, person: 0 };

  // -- small helpers -----------------------------------------------------------------------------
  function html(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }
  const median = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };
  const signed = (value, digits = 1) => `${value < 0 ? "−" : "+"}${Math.abs(100 * value).toFixed(digits)}`;
  const range = ([, lower, upper]) => html("span", { class: "limits" }, `${(100 * lower).toFixed(1)} to ${(100 * upper).toFixed(1)}`);
  const shareName = (share) => `${+(100 * share).toFixed(2)}\u00a0%`;
  const everChanged = (cell) => 1 - cell.counts[0] / cell.counts.reduce((a, b) => a + b, 0);

  /* A cell of a table: what it shows, what it is sorted by, its label on a phone. */
  const number = (label, sort, ...content) => html("td", { class: "n", "data-sort": sort, "data-label": label }, html("span", {}, ...content));
  const words = (label, ...content) => html("td", { "data-label": label }, html("span", {}, ...content));
  const estimated = (label, value) => number(label, value[0], percent(value[0], 1), range(value));

  function fill(id, names, rows, numeric = []) {
    const heads = names.map((name, i) => {
      const kind = numeric.includes(i) ? "number" : "text";
      return html("th", { scope: "col", ...(name ? { "data-kind": kind } : {}), ...(kind === "number" ? { class: "n" } : {}) }, name);
    });
    byId(id).replaceChildren(html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
  }

  // -- the first sentences -----------------------------------------------------------------------
  function headline() {
    const at = (i) => percent(median(usefulCells.map((cell) => cell.changed[i][0])), 1);
    const last = atlas.shares.length - 1;
    const most = usefulCells.reduce((a, b) => (a.changed[last][0] > b.changed[last][0] ? a : b));
    const coins = median(usefulCells.map((cell) => cell.coin[0]));
    byId("headline").textContent = `Retrain a model on new rows, and ${at(last)} of people get another prediction (median of ${usefulCells.length} models on ${tables.size} public tables). For ${percent(coins, 1)} it changed in ${Math.ceil(atlas.coin_toss * nRetrainings)} or more of ${nRetrainings} retrainings.`;
    byId("lead").textContent = `With ${shareName(atlas.shares[0])} of the rows new it is ${at(0)}, with ${shareName(atlas.shares[1])} new ${at(1)}. Most change for the ${atlas.models[most.model]} on “${tables.get(most.table).title}”: ${percent(most.changed[last][0], 1)}. “People” are the rows of the tables: patients, applicants, passengers, but also flights, mails and images.`;
    for (const node of document.querySelectorAll(".n-retrainings")) node.textContent = nRetrainings;
  }

  function fillModels() {
    const shares = atlas.shares.map((share) => `${shareName(share)} new`);
    const over = (label, values) => number(label, 0, percent(median(values), 1), html("span", { class: "limits" }, `${(100 * Math.min(...values)).toFixed(1)} to ${(100 * Math.max(...values)).toFixed(1)}`));
    const rows = models.map((model) => [model, usefulCells.filter((cell) => cell.model === model)]).filter(([, cells]) => cells.length).map(([model, cells]) => html("tr", {},
      html("th", { scope: "row" }, atlas.models[model]),
      number("Tables", cells.length, `${cells.length}`),
      ...shares.map((label, i) => over(label, cells.map((cell) => cell.changed[i][0]))),
      over("Coin toss", cells.map((cell) => cell.coin[0])),
      over("Ever changed", cells.map(everChanged))));
    fill("model-summary", ["Model", "Tables", ...shares, "Coin toss", `Ever, of ${nRetrainings}`], rows, [1, 2, 3, 4, 5, 6]);
  }

  // -- picture: share of changed predictions by table and model ------------------------------------
  const rowOf = new Map();
  const visibleCells = () => atlas.cells.filter((cell) => !rowOf.get(cell).hidden);

  function drawPicture() {
    const cells = visibleCells();
    const value = (cell) => cell.changed[shown.share];
    const names = [...new Set(cells.map((cell) => cell.table))];
    const mean = (name) => median(cells.filter((cell) => cell.table === name).map((cell) => value(cell)[0]));
    names.sort((a, b) => mean(b) - mean(a));
    const box = byId("picture");
    byId("picture-words").textContent = `Share of test rows with another prediction when ${shareName(atlas.shares[shown.share])} of the training rows are new. Bars are 95 % limits. A mark opens its history; tables by their median.`;
    if (names.length === 0) { box.replaceChildren("Nothing matches."); return; }
    const wide = box.clientWidth > 640;
    const step = 11;
    const head = wide ? 8 : 24;
    const band = head + step * shown.models.size;
    const height = 12 + 44 + band * names.length;
    const most = Math.max(...cells.map((cell) => value(cell)[2]), 0.01);
    const plot = frame("picture", { x: [0, most * 1.04], y: [names.length, 0], height, left: wide ? 250 : 8, yTicks: [], xLabel: "predictions that change", label: "Share of predictions that change, by table and model" });
    for (const tick of plot.svg.querySelectorAll("text[text-anchor='middle']:not(.name)")) {
      const above = tick.cloneNode(true); // the axis is far below
      above.setAttribute("y", 9);
      plot.svg.append(above);
    }
    names.forEach((name, i) => drawTable(plot, cells.filter((cell) => cell.table === name), { name, i, band, head, step, wide, value }));
  }

  function drawTable(plot, cells, { name, i, band, head, step, wide, value }) {
    const top = plot.area.top + i * band;
    plot.svg.append(element("line", { class: "axis", x1: wide ? 0 : plot.area.left, x2: plot.area.right, y1: top + band, y2: top + band }));
    const textAt = wide ? { x: plot.area.left - 10, y: top + band / 2 + 4, "text-anchor": "end" } : { x: plot.area.left, y: top + 16 };
    plot.svg.append(element("text", { class: "table-name", ...textAt }, tables.get(name).title));
    models.filter((model) => shown.models.has(model)).forEach((model, k) => {
      const cell = cells.find((one) => one.model === model);
      if (!cell) return;
      const [estimate, lower, upper] = value(cell);
      const y = top + head + step * k + (wide ? 2 : 4);
      const at = group(plot.svg, models.indexOf(model));
      whisker(at, plot.scaleX(lower), y, plot.scaleX(upper), y);
      mark(at, plot.scaleX(estimate), y, models.indexOf(model), `${tables.get(name).title}, ${atlas.models[model]}\n${percent(estimate, 1)} change (${percent(lower, 1)} to ${percent(upper, 1)})`, 4.5);
      opens(at.lastChild, cell);
    });
  }

  function opens(node, cell) {
    node.setAttribute("role", "button");
    node.addEventListener("click", () => goTo(cell));
    node.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); goTo(cell); } });
  }

  // -- the table of all numbers ---------------------------------------------------------------------
  function fillTable() {
    const shares = atlas.shares.map((share) => `${shareName(share)} new`);
    const names = ["Table", "Model", ...shares, "Coin toss", `Ever, of ${nRetrainings}`, "Accuracy", "AUC", ""];
    const rows = atlas.cells.map((cell) => {
      const table = tables.get(cell.table);
      const open = html("button", { type: "button", class: "to-history", "aria-label": `History: ${table.title}, ${atlas.models[cell.model]}` }, "History");
      open.addEventListener("click", () => goTo(cell));
      const warned = cell.one_class ? [html("small", { class: "alarm" }, "predicts nearly one class")] : [];
      const row = html("tr", {},
        html("th", { scope: "row" }, table.title, html("small", {}, `${table.train.toLocaleString("en")} training rows`)),
        words("Model", atlas.models[cell.model], ...warned),
        ...cell.changed.map((value, i) => estimated(shares[i], value)),
        estimated("Coin toss", cell.coin),
        number("Ever changed", everChanged(cell), percent(everChanged(cell), 1)),
        number("Accuracy", cell.accuracy[0], percent(cell.accuracy[0], 1), html("span", { class: "limits" }, `majority ${(100 * table.majority).toFixed(1)}`)),
        number("AUC", cell.auc[0], cell.auc[0].toFixed(3)),
        html("td", {}, open));
      rowOf.set(cell, row);
      return row;
    });
    fill("row-table", names, rows, [2, 3, 4, 5, 6, 7, 8]);
  }

  const cellOfRow = (row) => atlas.cells.find((cell) => rowOf.get(cell) === row);
  const accepted = (row) => {
    const cell = cellOfRow(row);
    return shown.models.has(cell.model) && !(byId("useful").checked && cell.one_class);
  };

  // -- one person ---------------------------------------------------------------------------------
  /* Two digits for each model: before and after each retraining; 50 and more predicts yes. */
  function history([row, random, text]) {
    const codes = text.match(/../g).map(Number);
    const pairs = Array.from({ length: codes.length / 2 }, (_, i) => [codes[2 * i], codes[2 * i + 1]]);
    const changed = pairs.map(([a, b]) => (a >= 50) !== (b >= 50));
    return { row, random: random === 1, pairs, changed, count: changed.filter(Boolean).length };
  }

  const personsOf = (cell) => cell.persons.map(history).sort((a, b) => b.count - a.count || a.row - b.row);

  /* The first person to see is nearest to a coin toss: the ones before change more often. */
  function nearHalf(persons) {
    const distances = persons.map((one) => Math.abs(one.count - one.pairs.length / 2));
    return distances.indexOf(Math.min(...distances));
  }

  function choose(cell) {
    shown.cell = cell;
    shown.person = nearHalf(personsOf(cell));
    byId("table-choice").value = cell.table;
    byId("model-choice").replaceChildren(...atlas.cells.filter((one) => one.table === cell.table).map((one) => html("option", { value: one.model }, atlas.models[one.model])));
    byId("model-choice").value = cell.model;
    byId("person-choice").replaceChildren(...personsOf(cell).map((one, i) => html("option", { value: i }, `row ${one.row}: ${one.count} of ${one.pairs.length}${one.random ? " (drawn at random)" : ""}`)));
    fillCellRemedies(cell);
    drawPerson();
  }

  function goTo(cell) {
    choose(cell);
    byId("person").scrollIntoView();
    byId("person-choice").focus({ preventScroll: true });
  }

  function drawPerson() {
    const table = tables.get(shown.cell.table);
    const person = personsOf(shown.cell)[shown.person];
    const [truth, cells] = table.persons[person.row];
    byId("person-choice").value = shown.person;
    const yes = person.pairs.flat().filter((code) => code >= 50).length;
    byId("person-words").textContent = `${table.question} ${yes} of ${2 * person.pairs.length} models predict yes; the prediction changed in ${person.count} of ${person.pairs.length} retrainings. Truth: ${truth ? "yes" : "no"}.`;
    byId("person-facts").textContent = `Row ${person.row}: ${table.shown.map((name, i) => `${name} ${cells[i]}`).join(", ")}.`;
    drawHistory(person);
    byId("history-list").replaceChildren(...person.pairs.map(([a, b], i) => html("li", {}, `${a} % before, ${b} % after${person.changed[i] ? ": another prediction" : ""}`)));
    drawCounts();
  }

  function drawHistory(person) {
    const n = person.pairs.length;
    const every = byId("history").clientWidth < 500 ? 5 : 1;
    const xTicks = Array.from({ length: n }, (_, i) => [i + 1, (i + 1) % every === 0 || i === 0 ? `${i + 1}` : ""]);
    const label = `Probability of yes before and after each of ${n} retrainings; the prediction changes in ${person.count}`;
    const plot = frame("history", { x: [0.4, n + 0.6], y: [0, 1], height: 300, xTicks, xLabel: "retraining", yLabel: "", label });
    plot.svg.setAttribute("role", "img");
    const half = plot.scaleY(0.5);
    plot.svg.append(element("line", { class: "cut", x1: plot.area.left, x2: plot.area.right, y1: half, y2: half }));
    person.pairs.forEach(([a, b], i) => {
      const x = plot.scaleX(i + 1);
      const [y1, y2] = [plot.scaleY(a / 100), plot.scaleY(b / 100)];
      const at = element("g", { class: person.changed[i] ? "other" : "same" });
      at.append(element("line", { class: "step", x1: x, x2: x, y1, y2 }), element("circle", { class: "before", cx: x, cy: y1, r: 5 }), element("circle", { class: "after", cx: x, cy: y2, r: 4 }));
      if (person.changed[i]) at.append(element("path", { class: "step", d: `M${x - 4} ${plot.area.top - 8} l8 8 m0 -8 l-8 8` }));
      plot.svg.append(at);
    });
  }

  function drawCounts() {
    const { counts } = shown.cell;
    const total = counts.reduce((a, b) => a + b, 0);
    const coin = atlas.coin_toss * nRetrainings;
    const changing = counts.slice(1);
    byId("counts-words").textContent = `${counts[0]} of ${total} test rows never changed. The others, by the number of changes; orange: ${coin} or more of ${nRetrainings}, close to a coin toss.`;
    const most = Math.max(...changing, 1);
    const plot = frame("counts", { x: [0.4, nRetrainings + 0.6], y: [0, (most / total) * 1.05], height: 300, left: 52, xTicks: [1, 5, 10, 15, 20].filter((v) => v <= nRetrainings).map((v) => [v, `${v}`]), xLabel: `changes in ${nRetrainings} retrainings`, label: "Test rows by the number of changes" });
    plot.svg.setAttribute("role", "img");
    const width = (plot.area.right - plot.area.left) / nRetrainings;
    changing.forEach((count, i) => {
      const y = plot.scaleY(count / total);
      plot.svg.append(element("rect", { class: i + 1 >= coin ? "column coin" : "column", x: plot.scaleX(i + 1) - width * 0.4, width: width * 0.8, y, height: plot.area.bottom - y }));
    });
  }

  // -- remedies -----------------------------------------------------------------------------------
  const remedyLines = atlas.cells.flatMap((cell) => Object.keys(atlas.remedies).filter((name) => cell.remedies?.[name]).map((name) => ({ cell, name, base: cell.remedies.baseline, ours: cell.remedies[name] })));
  const left = ({ base, ours }) => (base.changed[0] > 0 ? ours.changed[0] / base.changed[0] : null);
  const loses = ({ base, ours }) => ours.gained[0] <= -0.01 || ours.changed[0] > base.changed[0];
  const gain = (label, value) => number(label, value[0], signed(value[0]), html("span", { class: "limits" }, `${signed(value[1])} to ${signed(value[2])}`));
  const changedShort = "Flips";
  const REMEDY_HEADS = [changedShort, "Accuracy", "Against the model", "AUC", "Seconds", "Promise"];

  function remedyCells(ours, isBaseline = false) {
    return [
      estimated(changedShort, ours.changed),
      estimated("Accuracy", ours.accuracy),
      isBaseline ? number("Against the model", 0, "") : gain("Against the model", ours.gained),
      number("AUC", ours.auc[0], ours.auc[0].toFixed(3)),
      number("Seconds", ours.seconds, ours.seconds.toFixed(2)),
      words("Promise", ours.verdict || "none", ...(ours.one_class ? [html("small", { class: "alarm" }, "predicts nearly one class")] : [])),
    ];
  }

  function fillCellRemedies(cell) {
    if (!cell.remedies) { fill("cell-remedies", ["Not measured"], []); return; }
    const titles = { baseline: atlas.models[cell.model], ...atlas.remedies };
    const rows = Object.keys(titles).filter((name) => cell.remedies[name]).map((name) => html("tr", {}, html("th", { scope: "row" }, titles[name]), ...remedyCells(cell.remedies[name], name === "baseline")));
    fill("cell-remedies", ["Remedy", ...REMEDY_HEADS], rows, [1, 2, 3, 4, 5]);
  }

  function fillSummary() {
    const rows = Object.entries(atlas.remedies).map(([name, title]) => {
      const lines = remedyLines.filter((line) => line.name === name && !line.cell.one_class && left(line) !== null);
      const cells = models.map((model) => {
        const some = lines.filter((line) => line.cell.model === model);
        const text = some.length ? `${median(some.map(left)).toFixed(2)} / ${signed(median(some.map((line) => line.ours.gained[0])))}` : "";
        return number(atlas.models[model], 0, text);
      });
      const costly = lines.filter((line) => line.ours.gained[0] <= -0.01).length;
      const more = lines.filter((line) => line.ours.changed[0] > line.base.changed[0]).length;
      return html("tr", {}, html("th", { scope: "row" }, title), ...cells, number("Loses a point", costly, `${costly} of ${lines.length}`), number("Flips more", more, `${more} of ${lines.length}`));
    });
    fill("remedy-summary", ["Flips left / accuracy", ...models.map((model) => atlas.models[model]), "Loses a point", "Flips more"], rows, models.map((_, i) => i + 1).concat([models.length + 1, models.length + 2]));
    const without = models.filter((model) => !atlas.effort.certified_models.includes(model)).map((model) => atlas.models[model]);
    const missing = models.map((model) => [model, atlas.cells.filter((cell) => cell.model === model && !cell.remedies)]).filter(([, cells]) => cells.length).map(([model, cells]) => `${atlas.models[model]} on ${cells.map((cell) => tables.get(cell.table).title).join(", ")}`);
    byId("remedies-words").textContent = `Medians over tables: the part of the model's flips that is left (1 is all of them), and accuracy in percentage points against the model itself. Each remedy was measured as the audit does, on ${atlas.effort.n_remedy_pairs} pairs of samples that share no row. PointwiseReplicableClassifier has about 64 models, fewer than by default (the same guarantee, more flips), and was measured only where a training has ${atlas.min_certified_rows.toLocaleString("en")} rows or more${without.length ? `, and not for ${without.join(" and ")}, for which its many trainings took too long` : ""}.${missing.length ? ` Remedies were not measured, for lack of time, for ${missing.join("; ")}.` : ""}`;
  }

  function fillRemedies() {
    const rows = remedyLines.map((line) => {
      const ratio = left(line);
      const row = html("tr", { "data-loses": loses(line) },
        html("th", { scope: "row" }, tables.get(line.cell.table).title),
        words("Model", atlas.models[line.cell.model]),
        words("Remedy", atlas.remedies[line.name]),
        number("Flips left", ratio ?? -1, ratio === null ? "" : ratio.toFixed(2)),
        ...remedyCells(line.ours));
      return row;
    });
    fill("remedy-table", ["Table", "Model", "Remedy", "Flips left", ...REMEDY_HEADS], rows, [3, 4, 5, 6, 7, 8]);
    return searchableTable((row) => !byId("losing").checked || row.dataset.loses === "true", "remedy-table", "remedy-search", "remedy-count");
  }

  // -- method and sources ---------------------------------------------------------------------------
  function fillMethod() {
    const { effort } = atlas;
    const points = [
      `Test rows (30 % of a table, at most ${effort.max_test.toLocaleString("en")}) are drawn once. From the other rows two samples without a common row are drawn, of half of them each, at most ${effort.max_train.toLocaleString("en")}: the training rows before and after. That is one retraining; the next one draws again, ${nRetrainings} times.`,
      `With ${shareName(atlas.shares[0])} or ${shareName(atlas.shares[1])} new rows, the second model sees the rows of the first but for that share. Both models of a retraining have the same seed, so that only the rows differ.`,
      "Models are scikit-learn's with default parameters (the forest has 50 trees). Imputation, scaling and one-hot encoding are learned inside the pipeline of logistic regression; trees take categories by number. The more probable class is predicted: where one class is rare, a model may predict nearly one class for all, and a low share of changes means nothing. Such lines are marked, hidden at first, and left out of the medians.",
      `Close to a coin toss: the prediction changed in ${100 * atlas.coin_toss} % of retrainings or more, as the audit defines it. It is what these ${nRetrainings} retrainings showed: by chance, a person whose prediction really changes in 30 % of retrainings is counted with probability 0.23.`,
      "Limits are at 95 %: over retrainings and test rows for shares of changes and scores, over test rows for coin tosses. They hold for random splits of these tables, not for other years or places, and each on its own, not all at once.",
      `Of each table and model ${effort.n_random} test rows drawn at random are shown, and the ${effort.n_unstable} others that changed most often: do not count among them.`,
      "A share of changes is about two independent samples of the size that the table of numbers gives: a team with more rows sees fewer changes. A person's own count is about one table: its two halves complement each other, so that a person who depends on a few rows may change in more than half of the retrainings.",
      "IncumbentClassifier is measured for one retraining: it keeps predictions of the first model where the second is not sure, wrong ones as well. A fully grown tree is always sure, so that old and new disagree by all or nothing and the old one stays. How it fares over twelve months and under drift is on the page of benchmarks.",
      "No parameter was tuned, and no table was left out after its numbers were seen. Some tables (breast cancer, flights) are also in other benchmarks of this library. Not shown: drift, tuned models, decision thresholds for costs, several classes, larger samples.",
    ];
    byId("method-words").replaceChildren(html("ul", {}, ...points.map((text) => html("li", {}, text))));
    const rows = atlas.tables.map((table) => html("tr", {},
      html("th", { scope: "row" }, table.title),
      words("Question", table.question),
      number("Rows", table.rows, table.rows.toLocaleString("en")),
      number("Columns", table.columns, `${table.columns}`),
      number("Yes", table.positives, percent(table.positives, 1)),
      words("Package", table.package),
      words("Licence or origin", table.licence)));
    fill("source-table", ["Table", "Question", "Rows", "Columns", "Yes", "Package", "Licence or origin"], rows, [2, 3, 4]);
    byId("made").textContent = `${atlas.made}. One command makes the data file: python benchmarks/atlas.py.`;
  }

  // -- controls -------------------------------------------------------------------------------------
  function modelButton(model, update) {
    const svg = element("svg", { viewBox: "0 0 14 14", "aria-hidden": "true", class: `s${models.indexOf(model)}` });
    mark(svg, 7, 7, models.indexOf(model), atlas.models[model], 4.5);
    svg.lastChild.removeAttribute("tabindex");
    const button = html("button", { type: "button", "aria-pressed": "true" }, svg, atlas.models[model]);
    button.addEventListener("click", () => {
      const on = !shown.models.has(model);
      if (on) shown.models.add(model); else shown.models.delete(model);
      button.setAttribute("aria-pressed", on);
      update();
    });
    return button;
  }

  function movePerson(step) {
    const n = shown.cell.persons.length;
    shown.person = (shown.person + step + n) % n;
    drawPerson();
  }

  function randomPerson() {
    const drawn = personsOf(shown.cell).map((one, i) => [one, i]).filter(([one]) => one.random);
    shown.person = drawn[Math.floor(Math.random() * drawn.length)][1];
    drawPerson();
  }

  function cellOf(table, model) {
    const cells = atlas.cells.filter((cell) => cell.table === table);
    return cells.find((cell) => cell.model === model) ?? cells[0];
  }

  function connect(filter) {
    const update = () => { filter(); drawPicture(); };
    byId("search").addEventListener("input", drawPicture);
    byId("useful").addEventListener("change", update);
    byId("share").append(...atlas.shares.map((share, i) => html("option", { value: i }, `${shareName(share)} of the training rows`)));
    byId("share").value = shown.share;
    byId("share").addEventListener("change", (event) => { shown.share = Number(event.target.value); drawPicture(); });
    byId("legend").append(...models.map((model) => modelButton(model, update)));
    byId("table-choice").append(...atlas.tables.map((table) => html("option", { value: table.name }, table.title)));
    byId("table-choice").addEventListener("change", (event) => choose(cellOf(event.target.value, shown.cell.model)));
    byId("model-choice").addEventListener("change", (event) => choose(cellOf(shown.cell.table, event.target.value)));
    byId("person-choice").addEventListener("change", (event) => { shown.person = Number(event.target.value); drawPerson(); });
    byId("previous").addEventListener("click", () => movePerson(-1));
    byId("next").addEventListener("click", () => movePerson(1));
    byId("random").addEventListener("click", randomPerson);
  }

  headline();
  fillModels();
  fillTable();
  fillSummary();
  fillMethod();
  const filterRemedies = fillRemedies();
  byId("losing").addEventListener("change", filterRemedies);
  connect(searchableTable(accepted));
  choose(cellOf("light_chains", "boosting") ?? atlas.cells[0]);
  keepDrawn(() => { drawPicture(); drawPerson(); });
})();
