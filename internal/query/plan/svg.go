package plan

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe/internal/text/render"
)

// SVG formats a plan as a picture: the boxes and arrows of [Diagram], the result at the top. A box is below all that
// read it. A label that is too long for its box is cut; the title of the box has all of it.
func SVG(ctx context.Context, n Node) string {
	boxes := boxesOf(ctx, n)
	p := picture{boxes: boxes, places: make([]place, len(boxes))}
	p.layout()
	return p.String()
}

// The lengths of a picture, in pixels.
const (
	boxHeight, layerGap, boxGap, margin = 44, 36, 24, 16
	padding, characterWidth, fontSize   = 12, 7.3, 12
	mostCharacters                      = 64
)

// place is where a box is: its layer, of which 0 is at the top, its left side and its width.
type place struct {
	layer       int
	left, width float64
}

func (p place) top() float64    { return margin + float64(p.layer)*(boxHeight+layerGap) }
func (p place) middle() float64 { return p.left + p.width/2 }

// picture is a plan with the places of its boxes.
type picture struct {
	boxes         []box
	places        []place
	width, height float64
}

// layout puts each box a layer below the lowest one that reads it, and centers the layers.
func (p *picture) layout() {
	var layers [][]int
	for changed := true; changed; { // a box with several readers moves below the last of them
		changed = false
		for number, b := range p.boxes {
			for _, input := range b.inputs {
				if p.places[input].layer <= p.places[number].layer {
					p.places[input].layer, changed = p.places[number].layer+1, true
				}
			}
		}
	}
	for number, b := range p.boxes {
		at := &p.places[number]
		at.width = 2*padding + characterWidth*float64(max(utf8.RuneCountInString(shortened(b.label)), utf8.RuneCountInString(shortened(b.note))))
		for len(layers) <= at.layer {
			layers = append(layers, nil)
		}
		layers[at.layer] = append(layers[at.layer], number)
	}
	widths := make([]float64, len(layers))
	for i, layer := range layers {
		for _, number := range layer {
			p.places[number].left = widths[i]
			widths[i] += p.places[number].width + boxGap
		}
		p.width = max(p.width, widths[i]-boxGap)
	}
	for number := range p.places {
		at := &p.places[number]
		at.left += margin + (p.width-(widths[at.layer]-boxGap))/2
	}
	p.width += 2 * margin
	p.height = place{layer: len(layers)}.top() - layerGap + margin
}

// String returns the picture as SVG.
func (p *picture) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%[1]d\" height=\"%[2]d\" viewBox=\"0 0 %[1]d %[2]d\" font-family=\"monospace\" font-size=\"%[3]d\">\n", int(p.width), int(p.height), fontSize)
	text.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>` + "\n")
	for number, b := range p.boxes {
		for _, input := range b.inputs {
			from, to := p.places[input], p.places[number]
			fmt.Fprintf(&text, "<path d=\"M%.1f %.1f %.1f %.1f\" stroke=\"#667\" fill=\"none\" marker-end=\"url(#arrow)\"/>\n", from.middle(), from.top(), to.middle(), to.top()+boxHeight)
		}
	}
	for number, b := range p.boxes {
		at := p.places[number]
		fmt.Fprintf(&text, "<g><title>%s</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"4\" fill=\"#eef3fb\" stroke=\"#446\"/>", inXML(b.label), at.left, at.top(), at.width, boxHeight)
		first := at.top() + boxHeight/2 - 4
		if b.note == "" {
			first = at.top() + boxHeight/2 + 4
		} else {
			fmt.Fprintf(&text, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#556\">%s</text>", at.left+padding, first+16, inXML(shortened(b.note)))
		}
		fmt.Fprintf(&text, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n", at.left+padding, first, inXML(shortened(b.label)))
	}
	text.WriteString("</svg>\n")
	return text.String()
}

// shortened cuts a text that is too long for a box.
func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= mostCharacters {
		return text
	}
	return string(runes[:mostCharacters-1]) + "…"
}

// inXML returns a text as the contents of an element.
func inXML(text string) string {
	return render.EscapeHTML(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfffe || r == 0xffff { // XML has none of these
			return ' '
		}
		return r
	}, text))
}
