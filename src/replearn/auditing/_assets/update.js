"use strict";
/* Pictures and table of the page about an update, with what page.js provides. */
(() => {
  const { percent, withLimits, element, frame, mark, group, whisker, searchableTable, keepDrawn } = replearnPage;
  const data = JSON.parse(document.getElementById("data").textContent);

  function drawChanges() {
    const lines = data.changes;
    const box = document.getElementById("plot-changes");
    const width = box.clientWidth || 560;
    const left = Math.min(0.42 * width, 24 + 7 * Math.max(...lines.map((line) => line.name.length)));
    const longest = Math.max(4, Math.floor(left / 7) - 2);
    const short = (text) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
    const plot = frame("plot-changes", {
      x: [0, Math.min(1, 1.06 * Math.max(0.002, ...lines.map((line) => Math.max(line.upper, line.allowed ?? 0))))],
      y: [lines.length, 0], height: 60 + 28 * lines.length, left,
      yTicks: lines.map((line, k) => [k + 0.5, short(line.name)]), xLabel: "share of rows", label: "Share of predictions that change",
    });
    const colours = { "become wrong": 0, "become right": 3 };
    lines.forEach((line, k) => {
      const index = colours[line.name] ?? (k === 0 ? 1 : 2);
      const g = group(plot.svg, index), y = plot.scaleY(k + 0.5);
      whisker(g, plot.scaleX(line.lower), y, plot.scaleX(line.upper), y);
      mark(g, plot.scaleX(line.estimate), y, index, `${line.name}\n${withLimits(line)}\n${line.rows} rows${line.allowed === null ? "" : `\nallowed ${percent(line.allowed, 1)}`}`, 5);
      if (line.allowed === null) return;
      const x = plot.scaleX(line.allowed); /* each gate beside the rows that it is about */
      plot.svg.append(element("line", { class: "ideal", x1: x, x2: x, y1: plot.scaleY(k), y2: plot.scaleY(k + 1) }));
    });
  }

  function drawCalibration() {
    if (!document.getElementById("plot-calibration")) return;
    const models = [["old", data.calibration.a, 2], ["new", data.calibration.b, 0]];
    const top = 1.05 * Math.max(0.05, ...models.flatMap(([, bins]) => bins.flatMap((b) => [b.predicted, b.observed])));
    const plot = frame("plot-calibration", { x: [0, top], y: [0, top], height: 340, xLabel: "estimated probability", yLabel: "observed share", label: "Calibration of both models" });
    plot.svg.append(element("line", { class: "ideal", x1: plot.scaleX(0), y1: plot.scaleY(0), x2: plot.scaleX(top), y2: plot.scaleY(top) }));
    for (const [name, bins, index] of models) {
      const g = group(plot.svg, index);
      g.append(element("path", { class: "line", d: bins.map((b, k) => `${k ? "L" : "M"}${plot.scaleX(b.predicted)} ${plot.scaleY(b.observed)}`).join(" ") }));
      for (const b of bins) mark(g, plot.scaleX(b.predicted), plot.scaleY(b.observed), index, `${name} model\nestimated ${percent(b.predicted, 1)}\nobserved ${percent(b.observed, 1)}\n${b.count} rows`, 5);
    }
  }

  const kind = document.getElementById("kind");
  if (kind) {
    const filter = searchableTable((row) => kind.value === "" || row.dataset.kind === kind.value);
    kind.addEventListener("change", filter);
  }
  keepDrawn(() => { drawChanges(); drawCalibration(); });
})();
