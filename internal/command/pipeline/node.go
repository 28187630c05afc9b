package pipeline

// object is an object of the document.
type object = map[string]any

// node is an expression of the document with its place in the text.
type node struct {
	begin    int
	object   object
	operands []*node
}

// call is a function of operands.
func call(begin int, function string, operands ...*node) *node {
	n := &node{begin, object{"function": function}, nil}
	if len(operands) > 0 {
		n.object["arguments"] = n.including(operands)
	}
	return n
}

// including adds nodes to the operands, and returns their objects.
func (n *node) including(operands []*node) []any {
	n.operands = append(n.operands, operands...)
	return objects(operands)
}

func objects(nodes []*node) []any {
	list := make([]any, len(nodes))
	for i, n := range nodes {
		list[i] = n.object
	}
	return list
}

// literal is a literal without a type, which adapts to other operands.
func literal(begin int, value any) *node {
	return &node{begin: begin, object: object{"function": "literal", "value": value}}
}

func literalOf(begin int, dataType string, value any) *node {
	n := literal(begin, value)
	n.object["type"] = dataType
	return n
}

func column(t token) *node {
	return &node{begin: t.begin, object: object{"function": "column", "name": t.value}}
}

// calls reports whether the node is a call of a function.
func (n *node) calls(function string) bool { return n.object["function"] == function }

// isNull reports whether the node is null without a type, which is that of the other operands.
func (n *node) isNull() bool {
	_, typed := n.object["type"]
	return n.calls("literal") && n.object["value"] == nil && !typed
}
