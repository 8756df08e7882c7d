"use strict";
// Colours and marks. Eight colours that colour-blind people can tell apart, at 3:1 or more against the paper;
// marks repeat in another rhythm, and dashes tell apart what comes round again.

const palettes = {
  light: {
    series: ["#0072b2", "#d55e00", "#00806a", "#b5568d", "#3a8fca", "#b87a00", "#6b7280", "#6a4fa3"],
    text: "#1f2328", quiet: "#59636e", grid: "#e4e8ec", paper: "#ffffff",
  },
  dark: {
    series: ["#4da3db", "#ff8a3d", "#2fc79b", "#e59bc4", "#a5d8f7", "#f0c04a", "#9aa4ae", "#b39ae8"],
    text: "#e2e6ea", quiet: "#9aa4ae", grid: "#2a323b", paper: "#12161b",
  },
};
const marks = [
  {point: "circle", glyph: "●"}, {point: "triangle", glyph: "▲"}, {point: "rect", glyph: "■"},
  {point: "rectRot", glyph: "◆"},
];

let printing = false;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function palette() {
  return palettes[prefersDark.matches && !printing ? "dark" : "light"];
}
function colourOf(style) {
  return palette().series[style % palette().series.length];
}
function markOf(style) {
  return marks[style % marks.length];
}
function dashOf(series) {
  return series.dashed ? [2, 3] : series.style >= palette().series.length ? [7, 4] : [];
}
