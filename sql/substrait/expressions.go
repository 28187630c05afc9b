package substrait

import (
	"fmt"
	"strconv"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// element is the path of an element of a list.
func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func (t *translator) expressions(path string, b *block, list []*substraitpb.Expression) ([]tree.Expr, error) {
	result := make([]tree.Expr, len(list))
	for i, e := range list {
		var err error
		if result[i], err = t.expression(element(path, i), b, e); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// expression translates an expression on the fields of a block.
func (t *translator) expression(path string, b *block, e *substraitpb.Expression) (tree.Expr, error) {
	if err := t.enter(path); err != nil {
		return nil, err
	}
	defer t.leave()
	switch e := e.GetRexType().(type) {
	case *substraitpb.Expression_Literal_:
		return literal(path, e.Literal)
	case *substraitpb.Expression_Selection:
		return t.reference(path, b, e.Selection)
	case *substraitpb.Expression_ScalarFunction_:
		return t.scalarFunction(path, b, e.ScalarFunction)
	case *substraitpb.Expression_WindowFunction_:
		return t.windowFunction(path, b, e.WindowFunction)
	case *substraitpb.Expression_IfThen_:
		return t.ifThen(path, b, e.IfThen)
	case *substraitpb.Expression_SwitchExpression_:
		return t.switched(path, b, e.SwitchExpression)
	case *substraitpb.Expression_SingularOrList_:
		return t.orList(path, b, e.SingularOrList)
	case *substraitpb.Expression_MultiOrList_:
		return t.multiOrList(path, b, e.MultiOrList)
	case *substraitpb.Expression_Cast_:
		return t.cast(path, b, e.Cast)
	case *substraitpb.Expression_Subquery_:
		return t.subquery(path, b, e.Subquery)
	case *substraitpb.Expression_DynamicParameter:
		n := e.DynamicParameter.GetParameterReference()
		if value, ok := t.bound[n]; ok {
			return literal(path, value)
		}
		return &tree.Parameter{Number: int(n) + 1}, nil
	case *substraitpb.Expression_Nested_:
		if list := e.Nested.GetList(); list != nil {
			items, err := t.expressions(path+".list", b, list.GetValues())
			return &tree.List{Items: items}, err
		}
		return nil, failed(path, "structs and maps of expressions are not supported")
	case nil:
		return nil, failed(path, "an expression is missing")
	default:
		return nil, failed(path, "expression %T is not supported", e)
	}
}

// reference returns a field of the block or of a relation around a subquery, or a field of a struct.
func (t *translator) reference(path string, b *block, r *substraitpb.Expression_FieldReference) (tree.Expr, error) {
	if outer := r.GetOuterReference(); outer != nil {
		n := len(t.outer) - int(outer.GetStepsOut())
		if outer.GetStepsOut() == 0 || n < 0 {
			return nil, failed(path, "a reference %d steps out of %d relations", outer.GetStepsOut(), len(t.outer))
		}
		b = t.outer[n]
	}
	if r.GetLambdaParameterReference() != nil || r.GetExpression() != nil {
		return nil, failed(path, "references to values of expressions and parameters of lambdas are not supported")
	}
	segment := r.GetDirectReference().GetStructField()
	if segment == nil {
		return nil, failed(path, "the reference is not to a field")
	}
	e, err := b.field(path, segment.GetField())
	if err != nil {
		return nil, err
	}
	if err := t.use(path, e); err != nil {
		return nil, err
	}
	for child := segment.GetChild(); child != nil; {
		switch s := child.GetReferenceType().(type) {
		case *substraitpb.Expression_ReferenceSegment_ListElement_:
			offset := s.ListElement.GetOffset()
			if offset < 0 {
				return nil, failed(path, "an element from the end of a list is not supported")
			}
			e = &tree.Subscript{X: e, Index: integer(int64(offset) + 1)}
			child = s.ListElement.GetChild()
		default:
			return nil, failed(path, "fields of structs and values of maps are not supported: the plan has their places, not their names")
		}
	}
	return e, nil
}

func (t *translator) ifThen(path string, b *block, e *substraitpb.Expression_IfThen) (tree.Expr, error) {
	c := &tree.Case{}
	for i, branch := range e.GetIfs() {
		at := element(path+".ifs", i)
		when, err := t.expression(at+".if", b, branch.GetIf())
		if err != nil {
			return nil, err
		}
		then, err := t.expression(at+".then", b, branch.GetThen())
		if err != nil {
			return nil, err
		}
		c.Branches = append(c.Branches, tree.Branch{When: when, Then: then})
	}
	return t.otherwise(path, b, c, e.GetElse())
}

// otherwise adds ELSE to a CASE.
func (t *translator) otherwise(path string, b *block, c *tree.Case, e *substraitpb.Expression) (tree.Expr, error) {
	if len(c.Branches) == 0 {
		return nil, failed(path, "it has no branches")
	}
	if e == nil {
		return c, nil
	}
	var err error
	c.Else, err = t.expression(path+".else", b, e)
	return c, err
}

func (t *translator) switched(path string, b *block, e *substraitpb.Expression_SwitchExpression) (tree.Expr, error) {
	x, err := t.expression(path+".match", b, e.GetMatch())
	if err != nil {
		return nil, err
	}
	c := &tree.Case{X: x}
	for i, branch := range e.GetIfs() {
		at := element(path+".ifs", i)
		when, err := literal(at+".if", branch.GetIf())
		if err != nil {
			return nil, err
		}
		then, err := t.expression(at+".then", b, branch.GetThen())
		if err != nil {
			return nil, err
		}
		c.Branches = append(c.Branches, tree.Branch{When: when, Then: then})
	}
	return t.otherwise(path, b, c, e.GetElse())
}

func (t *translator) orList(path string, b *block, e *substraitpb.Expression_SingularOrList) (tree.Expr, error) {
	x, err := t.expression(path+".value", b, e.GetValue())
	if err != nil {
		return nil, err
	}
	list, err := t.expressions(path+".options", b, e.GetOptions())
	if err == nil && len(list) == 0 {
		err = failed(path, "it has no options")
	}
	return &tree.In{X: x, List: list}, err
}

func (t *translator) multiOrList(path string, b *block, e *substraitpb.Expression_MultiOrList) (tree.Expr, error) {
	x, err := t.expressions(path+".value", b, e.GetValue())
	if err != nil {
		return nil, err
	}
	var options []tree.Expr
	for i, option := range e.GetOptions() {
		at := element(path+".options", i)
		list, err := t.expressions(at, b, option.GetFields())
		if err != nil {
			return nil, err
		}
		if len(list) != len(x) {
			return nil, failed(at, "it has %d values, expected %d", len(list), len(x))
		}
		var equal []tree.Expr // a comparison of rows would have nulls as equal
		for k, value := range list {
			if err := t.use(at, x[k]); err != nil {
				return nil, err
			}
			equal = append(equal, binary("=", x[k], value))
		}
		options = append(options, and(equal))
	}
	if len(options) == 0 || len(x) == 0 {
		return nil, failed(path, "it has no options, or no values")
	}
	return or(options), nil
}

// integers are the types of integers, with their numbers of bits.
var integers = map[string]int{"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64}

// isOfType reports whether a literal has a value of a type.
func isOfType(e tree.Expr, typ string) bool {
	l, ok := e.(*tree.Literal)
	switch {
	case !ok:
		return false
	case l.Kind == tree.Integer && integers[typ] > 0:
		_, err := strconv.ParseInt(l.Text, 10, integers[typ])
		return err == nil
	}
	return l.Kind == tree.Text && typ == "varchar"
}

func (t *translator) cast(path string, b *block, e *substraitpb.Expression_Cast) (tree.Expr, error) {
	x, err := t.expression(path+".input", b, e.GetInput())
	if err != nil {
		return nil, err
	}
	typ, err := typeOf(path+".type", e.GetType())
	if err != nil {
		return nil, err
	}
	if isOfType(x, typ.Name) {
		return x, nil // functions of SQL need literals for some arguments
	}
	return &tree.Cast{X: x, Type: typ, Try: e.GetFailureBehavior() == substraitpb.Expression_Cast_FAILURE_BEHAVIOR_RETURN_NULL}, nil
}

// parts are the kinds of expressions in a list.
type parts struct{ windows, subqueries bool }

// partsOf looks through expressions, without the relations of their subqueries.
func partsOf(list []*substraitpb.Expression) (p parts) {
	var visit func(m protoreflect.Message)
	visit = func(m protoreflect.Message) {
		switch m.Interface().(type) {
		case *substraitpb.Expression_WindowFunction:
			p.windows = true
		case *substraitpb.Expression_Subquery:
			p.subqueries = true
			return
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.IsMap() || f.Message() == nil:
			case f.IsList():
				for i := range v.List().Len() {
					visit(v.List().Get(i).Message())
				}
			default:
				visit(v.Message())
			}
			return true
		})
	}
	for _, e := range list {
		visit(proto.Message(e).ProtoReflect())
	}
	return p
}

func hasSubquery(e *substraitpb.Expression) bool {
	return partsOf([]*substraitpb.Expression{e}).subqueries
}
