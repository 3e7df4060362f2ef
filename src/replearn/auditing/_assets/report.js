"use strict";
/* Plots and table of the audit report, with what page.js provides. */
(() => {
  const { percent, withLimits, numbers, series, element, frame, mark, group, whisker, searchableTable, keepDrawn } = replearnPage;
  const data = JSON.parse(document.getElementById("data").textContent);
  const contenders = data.contenders, judged = data.judgement.contenders;
  const hidden = new Set();
  const shown = () => contenders.map((c, i) => [c, i]).filter(([, i]) => !hidden.has(i));

  // -- flips ------------------------------------------------------------------------------------
  function drawAccuracy(id, changed, xLabel) {
    const all = shown().map(([, i]) => [judged[i], i]);
    if (!all.length) return document.getElementById(id).replaceChildren();
    const score = (c) => c.scores[0].value, scoreName = judged[0].scores[0].name, plain = scoreName === "AUC" || scoreName === "R²";
    const lows = all.map(([c]) => score(c).lower), highs = all.map(([c]) => score(c).upper);
    const pad = Math.max(0.002, 0.15 * (Math.max(...highs) - Math.min(...lows)));
    const plot = frame(id, {
      x: [0, Math.min(1.05, 1.12 * Math.max(0.002, ...all.map(([c]) => changed(c).upper)))],
      y: [Math.max(0, Math.min(...lows) - pad), Math.min(1, Math.max(...highs) + pad)],
      height: 300, plain, xLabel, yLabel: scoreName, label: `${scoreName} and ${xLabel}, one mark per contender`,
    });
    for (const [c, i] of all) {
      const flips = changed(c);
      const g = group(plot.svg, i), x = plot.scaleX(flips.estimate), y = plot.scaleY(score(c).estimate);
      whisker(g, plot.scaleX(flips.lower), y, plot.scaleX(flips.upper), y);
      whisker(g, x, plot.scaleY(score(c).lower), x, plot.scaleY(score(c).upper));
      mark(g, x, y, i, `${c.name}\n${xLabel} ${withLimits(flips)}\n${scoreName} ${plain ? numbers(score(c)) : withLimits(score(c))}`);
    }
    const taken = [];
    for (const [c, i] of all) label(plot, group(plot.svg, i), plot.scaleX(changed(c).estimate), plot.scaleY(score(c).estimate), c.name, taken);
  }

  function drawFrontier() {
    drawAccuracy("plot-accuracy", (c) => c.changed, "predictions that change");
    drawAccuracy("plot-tail", (c) => c.tail, "changes of 1 row in 100");
  }

  /* The contender's name beside its mark, on the side with more room, clear of other names. */
  function label(plot, g, x, y, name, taken) {
    const toLeft = x > (plot.area.left + plot.area.right) / 2;
    const most = Math.floor((toLeft ? x - plot.area.left : plot.area.right - x) / 7) - 2;
    const text = name.length > most ? `${name.slice(0, Math.max(3, most - 1))}…` : name;
    const clear = (at) => taken.every((other) => Math.abs(other - at) >= 15);
    const at = [-8, 17, -24, 33, -40, 49].map((shift) => y + shift).find(clear) ?? y - 8;
    taken.push(at);
    g.append(element("text", { class: "in-series", x: x + (toLeft ? -11 : 11), y: at, "text-anchor": toLeft ? "end" : "start" }, text));
  }

  function drawRows() {
    const all = shown();
    if (!all.length) return document.getElementById("plot-rows").replaceChildren();
    const total = data.design.n_test;
    const bottom = Math.log10(0.7 / total);
    const yTicks = [];
    for (let power = 0; power >= bottom; power -= 1) yTicks.push([power, percent(10 ** power, Math.max(0, -2 - power))]);
    const highest = Math.max(0.2, ...all.map(([c]) => c.row_flips.max.estimate));
    const plot = frame("plot-rows", {
      x: [0, Math.min(1, highest + 0.06)], y: [bottom, 0], yTicks, height: 320, xDigits: 0,
      xLabel: "how often a row changes", yLabel: "share of rows", label: "Share of rows that change at least this often",
    });
    for (const [c, i] of all) {
      const g = group(plot.svg, i), steps = survival(c, total);
      let path = "";
      steps.forEach(([edge, share], k) => {
        const x = plot.scaleX(edge), y = plot.scaleY(Math.log10(share));
        path += k === 0 ? `M${x} ${y}` : ` L${x} ${y}`;
      });
      g.append(element("path", { class: "line", d: path }));
      steps.forEach(([edge, share, rows], k) => {
        if (k === 0) return;
        mark(g, plot.scaleX(edge), plot.scaleY(Math.log10(share)), i, `${c.name}\n${rows} rows (${percent(share)}) change in more than ${percent(edge, 0)} of the pairs`, 4);
      });
      promiseLine(plot, g, c, highest);
    }
  }

  /* Pairs of flip frequency and share of rows above it. */
  function survival(c, total) {
    const { edges, counts } = c.row_flips.histogram;
    const steps = [];
    let rows = counts.reduce((a, b) => a + b, 0);
    for (let k = 0; k < counts.length && rows > 0; k += 1) {
      steps.push([edges[k], rows / total, rows]);
      rows -= counts[k];
    }
    return steps;
  }

  function promiseLine(plot, g, c, highest) {
    const promise = c.certificate && !c.certificate.void_because.length ? c.certificate.limit_for_these_pairs : null;
    if (promise === null || promise > highest) return;
    const x = plot.scaleX(promise);
    g.append(element("line", { class: "promise", x1: x, x2: x, y1: plot.area.top, y2: plot.area.bottom }));
    const where = promise > c.certificate.rho ? "for pairs from one file" : "on average";
    g.append(element("text", { class: "promise-text", x: x + 5, y: plot.area.top + 12 }, `guaranteed ${where}: ${percent(promise, 1)}`));
  }

  const choice = document.getElementById("group-choice");
  function groupLines(c, wanted) {
    return wanted === "" ? c.by_class : c.by_subgroup.filter((line) => line.subgroup === wanted);
  }
  function fillChoice() {
    const names = [...new Set(contenders[0].by_subgroup.map((line) => line.subgroup))];
    for (const [value, text] of [["", "by true class"], ...names.map((n) => [n, n])]) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = text;
      choice.append(option);
    }
    choice.addEventListener("change", drawGroups);
  }
  function drawGroups() {
    const all = shown();
    const levels = groupLines(contenders[0], choice.value);
    if (!all.length || !levels.length) return document.getElementById("plot-groups").replaceChildren();
    const band = 16 * all.length + 14;
    const longest = Math.max(...levels.map((line) => line.level.length));
    const width = document.getElementById("plot-groups").clientWidth || 560;
    const left = Math.min(0.38 * width, 24 + 7 * longest);
    const most = Math.max(4, Math.floor(left / 7) - 2);
    const short = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
    const plot = frame("plot-groups", {
      x: [0, 1.05 * Math.max(0.002, ...all.flatMap(([c]) => groupLines(c, choice.value).map((line) => line.upper)))],
      y: [levels.length, 0], height: 60 + band * levels.length, left,
      yTicks: levels.map((line, k) => [k + 0.5, short(line.level)]), xLabel: "changed predictions", label: "Changed predictions by group",
    });
    all.forEach(([c, i], place) => {
      const g = group(plot.svg, i);
      groupLines(c, choice.value).forEach((line, k) => {
        const y = plot.scaleY(k + 0.5) + 15 * (place - (all.length - 1) / 2);
        whisker(g, plot.scaleX(line.lower), y, plot.scaleX(line.upper), y);
        mark(g, plot.scaleX(line.estimate), y, i, `${c.name}, ${line.level}\n${withLimits(line)}\n${line.rows} test rows`, 5);
      });
    });
  }

  function drawReliability() {
    if (!document.getElementById("plot-reliability")) return;
    const all = shown().filter(([c]) => c.reliability);
    if (!all.length) return document.getElementById("plot-reliability").replaceChildren();
    const top = 1.08 * Math.max(0.1, ...all.flatMap(([c]) => c.reliability.flatMap((b) => [b.predicted, b.observed])));
    const plot = frame("plot-reliability", { x: [0, top], y: [0, top], height: 320, xLabel: "expected changes", yLabel: "observed changes", label: "Expected against observed changes" });
    plot.svg.append(element("line", { class: "ideal", x1: plot.scaleX(0), y1: plot.scaleY(0), x2: plot.scaleX(top), y2: plot.scaleY(top) }));
    for (const [c, i] of all) {
      const g = group(plot.svg, i);
      g.append(element("path", { class: "line", d: c.reliability.map((b, k) => `${k ? "L" : "M"}${plot.scaleX(b.predicted)} ${plot.scaleY(b.observed)}`).join(" ") }));
      for (const b of c.reliability) mark(g, plot.scaleX(b.predicted), plot.scaleY(b.observed), i, `${c.name}\nexpected ${percent(b.predicted)}\nobserved ${percent(b.observed)}\n${b.count} predictions`, 5);
    }
  }

  // -- retraining --------------------------------------------------------------------------------
  function drawSources() {
    if (!document.getElementById("plot-sources")) return;
    const fresh = { name: "new rows", changed: contenders[0].flip_rate };
    const bars = [...data.sources, fresh];
    const plot = frame("plot-sources", {
      x: [0, 1.08 * Math.max(0.002, ...bars.map((b) => b.changed.upper))], y: [bars.length, 0], height: 60 + 34 * bars.length, left: 128,
      yTicks: bars.map((b, k) => [k + 0.5, b.name]), xLabel: "predictions that change", label: "Predictions that change when one thing does",
    });
    bars.forEach((b, k) => {
      const g = group(plot.svg, b === fresh ? 0 : 2), y = plot.scaleY(k + 0.5), zero = plot.scaleX(0), end = plot.scaleX(b.changed.estimate);
      g.append(element("rect", { class: "share", x: zero, y: y - 9, width: Math.max(0, end - zero), height: 18 }));
      whisker(g, plot.scaleX(b.changed.lower), y, plot.scaleX(b.changed.upper), y);
      mark(g, end, y, b === fresh ? 0 : 2, `${b.name}\n${withLimits(b.changed)}`, 4);
    });
  }

  /* A line with limits for each series of points: [x, estimate, words]. */
  function drawCurves(id, options, curves) {
    const top = 1.08 * Math.max(0.002, ...curves.flatMap(([, points]) => points.map(([, e]) => e.upper)));
    const legend = 16 * curves.length, height = 300 + legend;  // names above the lines
    const plot = frame(id, { y: [0, (top * (height - 56)) / (height - 56 - legend)], height, yLabel: "predictions that change", ...options });
    curves.forEach(([i, points, name], k) => {
      const g = group(plot.svg, i);
      g.append(element("text", { class: "in-series", x: plot.area.left + 8, y: plot.area.top + 14 + 16 * k }, name));
      g.append(element("path", { class: "line", d: line(plot, points.map(([x]) => x), points.map(([, e]) => e.estimate)) }));
      for (const [x, e, words] of points) {
        whisker(g, plot.scaleX(x), plot.scaleY(e.lower), plot.scaleX(x), plot.scaleY(e.upper));
        mark(g, plot.scaleX(x), plot.scaleY(e.estimate), i, words, 5);
      }
    });
  }

  function drawNewRows() {
    if (!document.getElementById("plot-new-rows")) return;
    const shares = data.new_rows.map((found) => found.share), at = (share) => Math.log10(share);
    const ends = [at(shares[0]) - 0.1, at(shares[shares.length - 1]) + 0.1];
    const digits = (share) => (share < 0.01 ? 1 : 0);
    drawCurves("plot-new-rows", {
      x: ends, xTicks: shares.map((share) => [at(share), percent(share, digits(share))]), xLabel: "new rows (logarithmic)", label: "Predictions that change by the share of new rows",
    }, shown().map(([c, i]) => [i, data.new_rows.map((found) => [at(found.share), found.changed[c.name], `${c.name}\n${percent(found.share, digits(found.share))} new rows\n${withLimits(found.changed[c.name])}`]), c.name]));
  }

  function drawTime() {
    if (!document.getElementById("plot-time")) return;
    const steps = data.in_time_order.retrainings;
    const without = (value) => ({ estimate: value, lower: value, upper: value });
    const words = (what, step, text) => `${what}\ntrained until ${step.trained_until}\n${text}`;
    const every = Math.ceil(steps.length / (document.getElementById("plot-time").clientWidth < 420 ? 3 : 6));
    drawCurves("plot-time", {
      x: [-0.4, steps.length - 0.6], xTicks: steps.map((step, k) => [k, k % every ? "" : step.trained_until.slice(0, 10)]), xLabel: "trained until", label: "Predictions that change in time order, and with the rows shuffled",
    }, [
      [0, steps.map((step, k) => [k, step.changed, words("in time order", step, withLimits(step.changed))]), "in time order"],
      [2, steps.map((step, k) => [k, without(step.shuffled), words("shuffled", step, percent(step.shuffled))]), "shuffled"],
    ]);
  }

  function drawAll() { drawSources(); drawNewRows(); drawTime(); drawFrontier(); drawRows(); drawGroups(); drawReliability(); drawInstability(); }

  // -- legend ------------------------------------------------------------------------------------
  contenders.forEach((c, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    const dot = document.createElement("span");
    dot.className = `mark ${series(i)}`;
    dot.setAttribute("aria-hidden", "true");
    button.append(dot, c.name);
    button.addEventListener("click", () => {
      if (hidden.has(i)) hidden.delete(i); else hidden.add(i);
      button.setAttribute("aria-pressed", String(!hidden.has(i)));
      drawAll();
    });
    document.getElementById("legend").append(button);
  });

  // -- begin -------------------------------------------------------------------------------------
  fillChoice();
  searchableTable();
  keepDrawn(drawAll);
})();
