package chart

import (
	"encoding/json"
	"time"
)

// schema is the version of Vega-Lite that the specification is of.
const schema = "https://vega.github.io/schema/vega-lite/v5.json"

// object is an object of JSON.
type object = map[string]any

// VegaLite returns the specification with the data. The fields of the data are x, y, end and color: names of columns
// are titles, because Vega-Lite reads dots and brackets of a field as a path.
func (c *Chart) VegaLite() ([]byte, error) {
	width, height := c.Size()
	encoding := object{"x": channel("x", &c.X), "y": channel("y", &c.Y)}
	mark := object{"type": string(c.Mark)}
	switch c.Mark {
	case Histogram:
		mark["type"] = string(Bar)
		encoding["x"].(object)["bin"] = object{"binned": true, "step": c.Step}
		encoding["x2"] = object{"field": "end"}
	case Line:
		mark["interpolate"] = "linear"
	}
	if c.Colour.Name != "" {
		encoding["color"] = object{"field": "color", "type": string(Text), "title": c.Colour.Name}
	}
	rows := []object{}
	for row := range c.rows() {
		if !c.drawn(row) {
			continue
		}
		values := object{"x": c.X.value(row), "y": c.Y.value(row)}
		if c.Colour.Name != "" {
			values["color"] = c.Colour.Texts[row]
		}
		if c.Mark == Histogram {
			values["end"] = c.X.Numbers[row] + c.Step
		}
		rows = append(rows, values)
	}
	spec := object{"$schema": schema, "width": width, "height": height, "data": object{"values": rows}, "mark": mark, "encoding": encoding}
	if c.Title != "" {
		spec["title"] = c.Title
	}
	return json.Marshal(spec)
}

// channel returns the encoding of an axis.
func channel(field string, v *Values) object {
	o := object{"field": field, "type": string(v.Kind), "title": v.Name}
	switch v.Kind {
	case Text:
		o["sort"] = nil // the order of the rows
	case Time:
		o["scale"] = object{"type": "utc"}
	}
	return o
}

// value returns a value in JSON.
func (v *Values) value(row int) any {
	switch v.Kind {
	case Text:
		return v.Texts[row]
	case Time:
		return time.UnixMilli(int64(v.Numbers[row])).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return v.Numbers[row]
}
