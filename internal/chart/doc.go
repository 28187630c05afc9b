// Package chart draws small charts of columns: as a specification of Vega-Lite, as SVG, and as one HTML page
// that loads nothing from elsewhere.
package chart
