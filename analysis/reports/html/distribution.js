"use strict";
// Distributions over each other: shares of samples in steps of a logarithmic axis of time.

function timeText(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  const [size, unit] = units.find(([size]) => ns >= size * 0.9995) || units[3];
  return plainNumber(ns / size) + " " + unit;
}

function plot_distribution(plot, view) {
  const series = plot.views[view].series;
  const all = plot.views.flatMap(one => one.series).flatMap(one => one.steps);
  const datasets = series.map(one => {
    // A step line goes up from nothing and down to it again.
    const steps = one.steps, last = steps[steps.length - 1];
    const points = steps.map(([from, , share], i) => ({x: Math.max(from, 1), y: share, label: one.labels[i]}));
    return {
      label: one.name,
      data: [{x: points[0].x, y: 0}, ...points, {x: last[1], y: 0}],
      stepped: true,
      borderColor: colourOf(one.style),
      backgroundColor: colourOf(one.style) + "22",
      borderDash: dashOf(one),
      borderWidth: 1.75,
      fill: series.length <= 4 ? "origin" : false,
      pointRadius: 0,
      pointHoverRadius: 5,
    };
  });
  return {
    type: "line",
    height: 300,
    legend: series.map(one => ({name: one.name, style: one.style, glyph: "▬"})),
    data: {datasets},
    options: {
      interaction: {mode: "nearest", intersect: false, axis: "xy"},
      scales: {
        // The same axis in each view, so that they can be compared.
        x: logAxis("latency", timeText, {min: Math.max(1, Math.min(...all.map(step => step[0]))),
          max: Math.max(...all.map(step => step[1]))}),
        y: {min: 0, title: {text: "% of samples"}, ticks: {callback: plainNumber}},
      },
      plugins: {tooltip: {
        filter: item => item.raw.label !== undefined,
        callbacks: {title: items => items.map(item => item.dataset.label), label: item => item.raw.label},
      }},
    },
  };
}
