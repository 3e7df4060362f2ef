"use strict";
/* Pictures and table of the page about an audit or a comparison, with what page.js provides. */
(() => {
  const { percent, withLimits, numbers, element, frame, mark, group, whisker, searchableTable, keepDrawn } = replearnPage;
  const data = JSON.parse(document.getElementById("data").textContent);

  /* One mark for each contender: predictions that change, and the score that leads the report. */
  function drawScatter({ score, plain, points }) {
    const lows = points.map((p) => p.score.lower), highs = points.map((p) => p.score.upper);
    const pad = Math.max(0.002, 0.15 * (Math.max(...highs) - Math.min(...lows)));
    const plot = frame("plot-scatter", {
      x: [0, Math.min(1.05, 1.12 * Math.max(0.002, ...points.map((p) => p.flips.upper)))],
      y: [Math.max(0, Math.min(...lows) - pad), Math.min(1, Math.max(...highs) + pad)],
      height: 300, plain, xLabel: "predictions that change", yLabel: score, label: `${score} and predictions that change, one mark per contender`,
    });
    const taken = [];
    points.forEach((p, i) => {
      const g = group(plot.svg, i), x = plot.scaleX(p.flips.value), y = plot.scaleY(p.score.value);
      whisker(g, plot.scaleX(p.flips.lower), y, plot.scaleX(p.flips.upper), y);
      whisker(g, x, plot.scaleY(p.score.lower), x, plot.scaleY(p.score.upper));
      mark(g, x, y, i, `${p.name}\nchanges ${withLimits(p.flips)}\n${score} ${plain ? numbers(p.score) : withLimits(p.score)}`);
      name(plot, g, x, y, p.name, taken);
    });
  }

  /* The contender's name beside its mark, on the side with more room, clear of other names. */
  function name(plot, g, x, y, text, taken) {
    const toLeft = x > (plot.area.left + plot.area.right) / 2;
    const most = Math.floor((toLeft ? x - plot.area.left : plot.area.right - x) / 7) - 2;
    const short = text.length > most ? `${text.slice(0, Math.max(3, most - 1))}…` : text;
    const at = [-8, 17, -24, 33, -40, 49].map((shift) => y + shift).find((place) => taken.every((other) => Math.abs(other - place) >= 15)) ?? y - 8;
    taken.push(at);
    g.append(element("text", { class: "in-series", x: x + (toLeft ? -11 : 11), y: at, "text-anchor": toLeft ? "end" : "start" }, short));
  }

  /* One line for each number, with its limits, and what a gate allows. */
  function drawBars(id, lines) {
    const box = document.getElementById(`plot-${id}`);
    if (!box || !lines.length) return;
    const left = Math.min(0.42 * (box.clientWidth || 560), 24 + 7 * Math.max(...lines.map((line) => line.name.length)));
    const most = Math.max(4, Math.floor(left / 7) - 2);
    const short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    const low = Math.min(0, ...lines.map((line) => line.lower));
    const plot = frame(`plot-${id}`, {
      x: [low, Math.min(1, 1.06 * Math.max(0.002, ...lines.map((line) => Math.max(line.upper, line.allowed ?? 0))))],
      y: [lines.length, 0], height: 60 + 26 * lines.length, left,
      yTicks: lines.map((line, k) => [k + 0.5, short(line.name)]), xLabel: "share of rows", label: "Share of predictions that change",
    });
    lines.forEach((line, k) => {
      const g = group(plot.svg, line.series), y = plot.scaleY(k + 0.5);
      whisker(g, plot.scaleX(line.lower), y, plot.scaleX(line.upper), y);
      mark(g, plot.scaleX(line.value), y, line.series, `${line.name}\n${withLimits(line)}\n${line.rows} rows${line.allowed === null ? "" : `\nallowed ${percent(line.allowed, 1)}`}`, 5);
      if (line.allowed === null) return;
      const x = plot.scaleX(line.allowed);
      plot.svg.append(element("line", { class: "ideal", x1: x, x2: x, y1: plot.scaleY(k), y2: plot.scaleY(k + 1) }));
    });
  }

  if (document.getElementById("row-table")) searchableTable();
  keepDrawn(() => {
    if (data.scatter) drawScatter(data.scatter);
    for (const [id, lines] of Object.entries(data.bars)) drawBars(id, lines);
  });
})();
