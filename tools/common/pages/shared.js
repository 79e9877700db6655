"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const units = ["B", "kB", "MB", "GB", "TB", "PB"];
function size(bytes) {
  let unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.length) { bytes /= 1000; ++unit; }
  return Number(bytes.toPrecision(3)) + " " + units[unit];
}
