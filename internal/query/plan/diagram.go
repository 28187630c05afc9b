package plan

import (
	"context"
	"fmt"
	"strings"
)

// Diagram formats a plan as a flowchart of Mermaid: a box for each node with the notes of [ExplainScans], and an arrow
// from each input to the nodes that read it. A node that several read has one box.
func Diagram(ctx context.Context, n Node) string {
	var text strings.Builder
	text.WriteString("flowchart BT\n")
	boxes := boxesOf(ctx, n)
	for number, b := range boxes {
		label := escaped(b.label)
		if b.note != "" {
			label += "<br/>" + escaped(b.note)
		}
		fmt.Fprintf(&text, "    n%d[\"%s\"]\n", number, label)
	}
	for number, b := range boxes {
		for _, input := range b.inputs {
			fmt.Fprintf(&text, "    n%d --> n%d\n", input, number)
		}
	}
	return text.String()
}

// box is a node of a picture. Its inputs are numbers of boxes.
type box struct {
	label, note string
	inputs      []int
}

// boxesOf returns the nodes of a plan, each once and before its inputs, the result first.
func boxesOf(ctx context.Context, n Node) (boxes []box) {
	note, numbers := scanNotes(ctx), map[Node]int{}
	var visit func(n Node) int
	visit = func(n Node) int {
		if number, ok := numbers[n]; ok {
			return number
		}
		number := len(boxes)
		numbers[n], boxes = number, append(boxes, box{label: n.String(), note: note(n)})
		for _, input := range n.Inputs() {
			at := visit(input)
			boxes[number].inputs = append(boxes[number].inputs, at)
		}
		return number
	}
	visit(n)
	return boxes
}

// escaped returns a text for a label in quotes. Mermaid has entities with a number sign, and reads a label as Markdown if it
// begins with a grave accent.
func escaped(text string) string {
	return strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", " ").Replace(text)
}
