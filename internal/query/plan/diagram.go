package plan

import (
	"context"
	"fmt"
	"strings"
)

// Diagram formats a plan as a flowchart of Mermaid: a box for each node with the notes of [ExplainScans], and an arrow
// from each input to the nodes that read it. A node that several read has one box.
func Diagram(ctx context.Context, n Node) string {
	d := diagram{note: scanNotes(ctx), boxes: map[Node]int{}}
	d.text.WriteString("flowchart BT\n")
	d.box(n)
	return d.text.String()
}

// diagram writes one plan.
type diagram struct {
	note  func(Node) string
	text  strings.Builder
	boxes map[Node]int
}

// box writes the box of a node and those below it, and returns its number.
func (d *diagram) box(n Node) int {
	if number, ok := d.boxes[n]; ok {
		return number
	}
	number := len(d.boxes)
	d.boxes[n] = number
	label := escaped(n.String())
	if note := d.note(n); note != "" {
		label += "<br/>" + escaped(note)
	}
	fmt.Fprintf(&d.text, "    n%d[\"%s\"]\n", number, label)
	for _, input := range n.Inputs() {
		fmt.Fprintf(&d.text, "    n%d --> n%d\n", d.box(input), number)
	}
	return number
}

// escaped returns a text for a label in quotes. Mermaid has entities with a number sign, and reads a label as Markdown if it
// begins with a grave accent.
func escaped(text string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", " ").Replace(text)
}
