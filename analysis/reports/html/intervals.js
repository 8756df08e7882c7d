"use strict";
// Medians with their 95 % intervals, over thread counts, or cells. Series stand beside each other at each, so that
// their whiskers do not hide one another.

const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const pen = chart.ctx, y = chart.scales.y;
    chart.data.datasets.forEach((dataset, i) => {
      if (!chart.isDatasetVisible(i)) return;
      pen.save();
      pen.strokeStyle = dataset.borderColor;
      pen.lineWidth = 1.5;
      pen.beginPath();
      dataset.data.forEach((point, j) => {
        if (point.low === null || point.high === null) return;
        const x = chart.getDatasetMeta(i).data[j].x, low = y.getPixelForValue(point.low),
          high = y.getPixelForValue(point.high);
        pen.moveTo(x, low);
        pen.lineTo(x, high);
        for (const end of [low, high]) {
          pen.moveTo(x - 4, end);
          pen.lineTo(x + 4, end);
        }
      });
      pen.stroke();
      pen.restore();
    });
  },
};

function plot_intervals(plot) {
  const count = plot.series.length;
  const step = Math.min(plot.x.length > 1 ? 0.07 : 0.2, 0.7 / count);
  const datasets = plot.series.map((series, i) => ({
    label: series.name,
    data: series.points.flatMap((point, x) =>
      point ? [{x: x + (i - (count - 1) / 2) * step, y: point.value, low: point.low, high: point.high, point}] : []),
    borderColor: colourOf(series.style),
    backgroundColor: series.dashed ? palette().paper : colourOf(series.style),
    borderDash: dashOf(series),
    borderWidth: 2,
    showLine: plot.x_title !== "",  // names without an order: nothing leads from one to the next
    pointBorderWidth: 2,
    pointStyle: markOf(series.style).point,
    pointRadius: 5,
    pointHoverRadius: 7,
  }));
  const ends = plot.series.flatMap(series => series.points).filter(point => point)
    .flatMap(point => [point.value, point.low ?? point.value, point.high ?? point.value]);
  const y = plot.log
    ? logAxis(plot.unit, plainNumber, {min: Math.min(...ends.filter(end => end > 0)) / 1.3, max: Math.max(...ends) * 1.3})
    : {type: "linear", title: {text: plot.unit}, min: 0, suggestedMax: Math.max(...ends) * 1.02,
      ticks: {callback: plainNumber}};
  return {
    type: "line",
    height: 360,
    legend: plot.series.map(series => ({name: series.name, style: series.style})),
    data: {datasets},
    plugins: [whiskers],
    options: {
      interaction: {mode: "nearest", intersect: false, axis: "xy"},
      scales: {
        x: {type: "linear", min: -0.5, max: plot.x.length - 0.5, title: {text: plot.x_title}, grid: {display: false},
          afterBuildTicks: axis => { axis.ticks = plot.x.map((_, i) => ({value: i})); },
          ticks: {callback: value => plot.x[value]}},
        y,
      },
      plugins: {tooltip: {callbacks: {
        title: items => items.map(item => `${item.dataset.label} ${plot.x[Math.round(item.parsed.x)]}`),
        label: item => item.raw.point.label,
      }}},
      onClick: (event, items, chart) => {
        if (items.length) location.hash = chart.data.datasets[items[0].datasetIndex].data[items[0].index].point.target;
      },
    },
  };
}
