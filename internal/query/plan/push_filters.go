package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// pushFilters moves conditions towards the sources, so that fewer rows reach the operations
// between, and a source may leave rows out. A condition with And moves in parts.
func (o *optimization) pushFilters(root Node) (Node, error) {
	p := filterPusher{
		optimization: o, parents: parents(root), lists: map[longerList]int{},
		done: map[pushedList]Node{}, pushed: map[Node]int{},
	}
	p.left = mostMoves + movesPerNode*len(p.parents)
	return p.push(root, nil)
}

// filterPusher pushes lists of conditions into nodes. Nodes that several others read are often
// reached with the same list.
type filterPusher struct {
	*optimization
	parents map[Node]int
	// lists numbers the lists of conditions. 0 is the empty one.
	lists map[longerList]int
	// done has the results, pushed the number of lists that each node has been pushed.
	done   map[pushedList]Node
	pushed map[Node]int
	// left is the number of operations that may still be moved into a node.
	left int
}

// mostMoves and movesPerNode limit how many operations of conditions are moved in a plan. The number
// grows with the square of the number of verbs if filters and projections alternate. Conditions
// that are not moved stay in their place.
const mostMoves, movesPerNode = 2000, 20

// affords counts the operations of a condition that is to be moved.
func (p *filterPusher) affords(c expr.Expr) bool {
	c.Walk(func(expr.Expr) bool {
		p.left--
		return p.left > 0
	})
	return p.left > 0
}

// longerList is a list of conditions and one more.
type longerList struct {
	list int
	more expr.Expr
}

type pushedList struct {
	to   Node
	list int
}

// mostPushed is the number of lists of conditions that are pushed into a node. Each makes a copy of
// the node and of all below it.
const mostPushed = 4

func (p *filterPusher) numberOf(conditions []expr.Expr) int {
	number := 0
	for _, c := range conditions {
		longer := longerList{number, c}
		if number = p.lists[longer]; number == 0 {
			number = len(p.lists) + 1
			p.lists[longer] = number
		}
	}
	return number
}

// push returns the rows of a node that meet all conditions.
func (p *filterPusher) push(n Node, conditions []expr.Expr) (Node, error) {
	key := pushedList{n, p.numberOf(conditions)}
	if known, ok := p.done[key]; ok {
		return known, nil
	}
	if err := p.visit(); err != nil {
		return nil, err
	}
	var result Node
	var err error
	if len(conditions) > 0 && p.parents[n] > 1 && (p.pushed[n] >= mostPushed || p.HoldsRows(n)) {
		// The node's result is computed once for all that read it.
		if result, err = p.push(n, nil); err == nil {
			result, err = filtered(result, conditions)
		}
	} else {
		p.pushed[n]++
		result, err = p.into(n, conditions)
	}
	if err == nil {
		p.done[key] = result
	}
	return result, err
}

func (p *filterPusher) into(n Node, conditions []expr.Expr) (Node, error) {
	pushed, err := n.pushed(p, conditions)
	if pushed != nil || err != nil {
		return pushed, err
	}
	return p.through(n, conditions, n.conditionBelow())
}

// filters returns the input of a filter and of those below it that nothing else reads, and the
// conditions of all of them, those of the lowest one first.
func (p *filterPusher) filters(top *Filter) (below Node, conditions []expr.Expr) {
	list := []*Filter{top}
	for {
		f, ok := list[len(list)-1].input.(*Filter)
		if !ok || p.parents[f] > 1 {
			break
		}
		list = append(list, f)
	}
	for _, f := range slices.Backward(list) {
		conditions = append(conditions, f.condition.Conjuncts()...)
	}
	return list[len(list)-1].input, conditions
}

// through moves the conditions that below translates, if it is not nil, to the input of a node, and
// leaves the others above it.
func (p *filterPusher) through(n Node, conditions []expr.Expr, below func(expr.Expr) (expr.Expr, bool)) (Node, error) {
	var pushed, kept []expr.Expr
	inputs := slices.Clone(n.Inputs())
	for _, c := range conditions {
		if below == nil || !p.affords(c) {
			kept = append(kept, c)
			continue
		}
		translated, ok := below(c)
		if ok && isCondition(translated, inputs[0].Schema()) {
			pushed = append(pushed, translated)
		} else {
			kept = append(kept, c)
		}
	}
	for i := range inputs {
		var err error
		if inputs[i], err = p.push(inputs[i], pushed); err != nil {
			return nil, err
		}
	}
	rewritten, err := withInputs(n, inputs...)
	if err != nil {
		return nil, err
	}
	return filtered(rewritten, kept)
}

// isCondition reports whether an expression fits a schema and is a bool. The text functions
// of package expr, for example, take columns and no expressions that may be inlined.
func isCondition(e expr.Expr, schema *arrow.Schema) bool {
	t := typeOf(e, schema)
	return t != nil && t.ID() == arrow.BOOL
}

// costly is the number of operations from which on an expression is not computed a second
// time for a filter below the projection that defines it.
const costly = 16

// pushable returns a function that returns a condition on the input of a projection.
func (p *Project) pushable() func(c expr.Expr) (expr.Expr, bool) {
	definitions := p.definitions()
	return func(c expr.Expr) (expr.Expr, bool) {
		operations := 0
		for _, name := range c.Columns() {
			definitions[name].Walk(func(part expr.Expr) bool {
				operations++
				if slow[part.Operation()] {
					operations += costly
				}
				return operations < costly
			})
		}
		if operations >= costly {
			return c, false
		}
		return inline(c, definitions), true
	}
}

// slow are operations that take much longer than to read their operands.
var slow = map[string]bool{
	"exp": true, "log": true, "power": true, "sin": true, "cos": true,
	"like": true, "list_sort": true, "contains": true, "find": true, "seek": true, "substring": true, "trim": true, "trim_start": true, "trim_end": true,
}

// onKeys translates conditions that have one value for all rows with equal keys.
func onKeys(schema *arrow.Schema, keys []expr.Expr) func(expr.Expr) (expr.Expr, bool) {
	definitions := map[string]expr.Expr{}
	floats := map[string]bool{}
	for _, k := range keys {
		t := typeOf(k, schema)
		if t == nil {
			continue
		}
		definitions[k.Name()] = typed(Unnamed(k), t)
		floats[k.Name()] = isFloat(t)
	}
	return func(c expr.Expr) (expr.Expr, bool) {
		for _, name := range c.Columns() {
			if _, ok := definitions[name]; !ok {
				return c, false
			}
		}
		return inline(c, definitions), len(c.Columns()) > 0 && equalForEqual(c, floats)
	}
}

// columnsOnly returns the keys of partitions that are columns, by their own names. A window has
// the columns of its input and none of its keys: a computed key a % 2 is named a, as is the
// column that it is computed of.
func columnsOnly(partition []expr.Expr) []expr.Expr {
	var keys []expr.Expr
	for _, k := range partition {
		if name, ok := plainColumn(k); ok {
			keys = append(keys, expr.Col(name))
		}
	}
	return keys
}

func isFloat(t arrow.DataType) bool { return arrow.IsFloating(valueType(t).ID()) }

// typed fixes the type of a literal, which would take another one next to other operands.
func typed(e expr.Expr, t arrow.DataType) expr.Expr {
	if value, ok := e.Literal(); ok {
		return expr.LitOf(t, value)
	}
	return e
}

// equalForEqual reports whether a condition has one value for equal values of columns. As
// keys, both zeros are equal, and all NaN are; so columns of floats may only be compared.
func equalForEqual(c expr.Expr, floats map[string]bool) bool {
	return perPart(func(e expr.Expr, operand func(expr.Expr) bool) bool {
		if name, ok := e.Column(); ok && floats[name] {
			return false
		}
		compares := comparisons[e.Operation()]
		return !slices.ContainsFunc(e.Operands(), func(o expr.Expr) bool {
			_, plain := o.Column()
			return !(plain && compares) && !operand(o)
		})
	})(c)
}

// comparisons are the operations that have one value for equal operands.
var comparisons = map[string]bool{
	"equal": true, "not_equal": true, "less": true, "less_equal": true, "greater": true, "greater_equal": true,
	"is_null": true, "is_valid": true, "is_nan": true, "in": true,
}

// intoJoin moves conditions to the sides of a join.
func (p *filterPusher) intoJoin(j *Join, conditions []expr.Expr) (Node, error) {
	j, err := j.rejecting(conditions)
	if err != nil {
		return nil, err
	}
	s := joinSides{join: j}
	if len(conditions) > 0 || !j.options.Where.IsZero() {
		s.toRight, s.leftToRight, s.rightToLeft = j.toRight(), j.copies(true), j.copies(false)
	}
	options := j.options
	for _, c := range conditions {
		if !p.affords(c) || !s.add(c) {
			s.kept = append(s.kept, c)
		}
	}
	options.Where = s.where()
	left, err := p.push(j.left, s.left)
	if err != nil {
		return nil, err
	}
	right, err := p.push(j.right, s.right)
	if err != nil {
		return nil, err
	}
	var joined Node = j
	if left != j.left || right != j.right || options.Where != j.options.Where {
		if joined, err = node(NewJoin(left, right, options)); err != nil {
			return nil, err
		}
	}
	return filtered(joined, s.kept)
}

// joinSides collects the conditions on the sides of a join.
type joinSides struct {
	join        *Join
	left, right []expr.Expr
	// toRight translates conditions on the result, the others those on the keys of a side.
	toRight, leftToRight, rightToLeft translation
	// kept stay above the join.
	kept []expr.Expr
}

// add moves a condition on the result to the sides, if it can be moved.
func (s *joinSides) add(c expr.Expr) bool {
	kind := s.join.options.Kind
	onLeft, isLeft := s.join.onLeft(c)
	onRight, isRight := s.toRight.translate(c)
	leftToRight, leftCopies := s.leftToRight.translate(c)
	rightToLeft, rightCopies := s.rightToLeft.translate(c)
	if len(c.Columns()) == 0 {
		return false
	}
	switch kind {
	case join.Inner, join.Cross, join.Left, join.Semi, join.Anti:
		if isLeft {
			s.left = append(s.left, onLeft)
			if leftCopies {
				s.right = append(s.right, leftToRight)
			}
			return true
		}
		if isRight && (kind == join.Inner || kind == join.Cross) {
			s.right = append(s.right, onRight)
			if rightCopies {
				s.left = append(s.left, rightToLeft)
			}
			return true
		}
	case join.Right:
		if isRight {
			s.right = append(s.right, onRight)
			if rightCopies {
				s.left = append(s.left, rightToLeft)
			}
			return true
		}
	case join.Full:
		// The key is the left one, or for right rows without a match the right one.
		if isLeft && isRight {
			s.left, s.right = append(s.left, onLeft), append(s.right, onRight)
			return true
		}
	}
	return false
}

// where moves parts of the join's condition to the sides, and returns what is left of it.
func (s *joinSides) where() expr.Expr {
	options := s.join.options
	if options.Where.IsZero() {
		return options.Where
	}
	toLeft := options.Kind == join.Inner || options.Kind == join.Cross || options.Kind == join.Semi || options.Kind == join.Right
	toRight := options.Kind != join.Right && options.Kind != join.Full
	var rest []expr.Expr
	for _, c := range options.Where.Conjuncts() {
		columns := c.Columns()
		fromRight := func(name string) bool { return s.join.fromRight[name] != "" }
		switch {
		case toLeft && len(columns) > 0 && !slices.ContainsFunc(columns, fromRight):
			s.left = append(s.left, c)
		case toRight && len(columns) > 0 && !slices.ContainsFunc(columns, func(name string) bool { return !fromRight(name) }):
			onRight, _ := s.toRight.translate(c)
			s.right = append(s.right, onRight)
		default:
			rest = append(rest, c)
		}
	}
	switch len(rest) {
	case 0:
		return options.noCondition()
	case len(options.Where.Conjuncts()):
		return options.Where
	}
	return allOf(rest)
}

// onLeft returns a condition on the result as one on the left side, if it reads no other
// columns.
func (j *Join) onLeft(c expr.Expr) (expr.Expr, bool) {
	for _, name := range c.Columns() {
		if j.fromRight[name] != "" {
			return c, false
		}
	}
	return c, true
}

// toRight translates conditions on the result to the right side. A key of both sides counts as
// one of its columns if the condition is the same for equal values.
func (j *Join) toRight() translation {
	t := newTranslation()
	for name, from := range j.fromRight {
		t.names[name] = expr.Col(from)
	}
	for _, k := range j.options.Keys {
		if name, ok := k.shared(); ok && j.sameType(k) {
			t.names[name], t.floats[name] = k.Right, isFloat(typeOf(k.Right, j.right.Schema()))
		}
	}
	return t
}

// copies translates conditions on the keys of one side to those of the other side: rows
// that match meet both or none.
func (j *Join) copies(leftToRight bool) translation {
	t := newTranslation()
	for _, k := range j.options.Keys {
		if !j.sameType(k) {
			continue
		}
		from, to := k.Left, k.Right
		if !leftToRight {
			from, to = k.Right, k.Left
		}
		name, ok := from.Column()
		if !ok {
			continue
		}
		if _, shared := k.shared(); !shared && !leftToRight {
			name = j.named(name)
		}
		t.names[name], t.floats[name] = to, isFloat(typeOf(k.Left, j.left.Schema()))
	}
	return t
}

// named returns the name of a right column in the result.
func (j *Join) named(right string) string {
	for name, from := range j.fromRight {
		if from == right {
			return name
		}
	}
	return ""
}

// sameType reports whether both sides of a key have one type.
func (j *Join) sameType(k JoinKey) bool {
	left, right := typeOf(k.Left, j.left.Schema()), typeOf(k.Right, j.right.Schema())
	return left != nil && right != nil && arrow.TypeEqual(left, right)
}

// translation has the replacements of the columns of conditions, and the columns that are floats.
type translation struct {
	names  map[string]expr.Expr
	floats map[string]bool
}

func newTranslation() translation {
	return translation{map[string]expr.Expr{}, map[string]bool{}}
}

// translate replaces the columns of a condition, all of which must have a replacement.
func (t translation) translate(c expr.Expr) (expr.Expr, bool) {
	for _, name := range c.Columns() {
		if _, ok := t.names[name]; !ok {
			return c, false
		}
	}
	return inline(c, t.names), equalForEqual(c, t.floats)
}

// rejecting returns the join without the rows that a condition rejects because the columns
// of a side are null: a left join with a condition on right columns is an inner join.
func (j *Join) rejecting(conditions []expr.Expr) (*Join, error) {
	kind := j.options.Kind
	if len(conditions) == 0 || !keepsLeft(kind) && !keepsRight(kind) {
		return j, nil
	}
	noRight, noLeft := map[string]bool{}, map[string]bool{}
	for name := range j.fromRight {
		noRight[name] = true
	}
	for _, name := range columnsOf(j.left.Schema()) {
		noLeft[name] = true
	}
	keysDiffer := false
	for _, k := range j.options.Keys {
		if name, ok := k.shared(); ok {
			delete(noLeft, name)
			// Which of two equal keys is in the result depends on the kind of the join.
			keysDiffer = keysDiffer || !j.sameType(k) || isFloat(typeOf(k.Left, j.left.Schema()))
		}
	}
	rejects := func(columns map[string]bool) bool {
		return slices.ContainsFunc(conditions, func(c expr.Expr) bool { return rejectsNull(c, columns) })
	}
	if keepsLeft(kind) && rejects(noRight) && (kind == join.Left || !keysDiffer) {
		kind = map[join.Kind]join.Kind{join.Left: join.Inner, join.Full: join.Right}[kind]
	}
	if keepsRight(kind) && rejects(noLeft) && (kind == join.Full || !keysDiffer) {
		kind = map[join.Kind]join.Kind{join.Right: join.Inner, join.Full: join.Left}[kind]
	}
	if kind == j.options.Kind {
		return j, nil
	}
	options := j.options
	options.Kind = kind
	return NewJoin(j.left, j.right, options)
}

// rejectsNull reports whether a condition is not true where the columns are null.
func rejectsNull(c expr.Expr, columns map[string]bool) bool {
	isNull := nullWith(columns)
	return perPart(func(e expr.Expr, operand func(expr.Expr) bool) bool {
		operands := e.Operands()
		switch e.Operation() {
		case "and":
			return operand(operands[0]) || operand(operands[1])
		case "or":
			return operand(operands[0]) && operand(operands[1])
		case "is_valid":
			return isNull(operands[0])
		}
		return isNull(e)
	})(c)
}

// nullWithOperand are operations that are null if an operand is.
var nullWithOperand = map[string]bool{
	"as": true, "add": true, "subtract": true, "multiply": true, "divide": true, "remainder": true, "negate": true, "abs": true,
	"equal": true, "not_equal": true, "less": true, "less_equal": true, "greater": true, "greater_equal": true,
	"and_strict": true, "or_strict": true, "xor": true, "not": true, "cast": true, "starts_with": true, "ends_with": true, "like": true,
	"year": true, "quarter": true, "month": true, "day": true, "in": true,
}

// nullWith returns a function that reports whether an expression is null where the columns are.
func nullWith(columns map[string]bool) func(expr.Expr) bool {
	return perPart(func(e expr.Expr, operand func(expr.Expr) bool) bool {
		if name, ok := e.Column(); ok {
			return columns[name]
		}
		if !nullWithOperand[e.Operation()] {
			return false
		}
		operands := e.Operands()
		if e.Operation() == "in" {
			operands = operands[:1]
		}
		return slices.ContainsFunc(operands, operand)
	})
}
