package text

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	jsonGetFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return jsonFunction("json_get", sameText, func(value string, to array.Builder) { appendText(to, compact(value)) })
	}}
	jsonTextFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return jsonFunction("json_text", sameText, func(value string, to array.Builder) {
			switch {
			case value == "null":
				to.AppendNull()
			case value[0] == '"':
				appendText(to, unquoted(value))
			case value[0] == '{' || value[0] == '[':
				appendText(to, compact(value))
			default:
				appendText(to, value)
			}
		})
	}}
	jsonKeysFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return jsonFunction("json_keys", listsOfText, func(value string, to array.Builder) {
			if value[0] != '{' {
				to.AppendNull()
				return
			}
			list := beginList(to)
			eachMember(value, func(key, _ string) bool {
				appendText(list, key)
				return true
			})
		})
	}}
	jsonElementsFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return jsonFunction("json_elements", listsOfText, func(value string, to array.Builder) {
			if value[0] != '[' {
				to.AppendNull()
				return
			}
			list := beginList(to)
			eachElement(value, func(element string) { appendText(list, element) })
		})
	}}
	jsonTypeFunction = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return jsonFunction("json_type", sameText, func(value string, to array.Builder) { appendText(to, jsonType(value[0])) })
	}}
)

// JSONGet is the value at a path of a JSON text, as JSON without white space. It is null if the text is no JSON or
// has no such value. Binaries are refused. Paths are $.name[0].other, with negative numbers from the end and names in quotes if they have
// other characters; a text without $ is the name of a member. The host computes it, as the other functions of JSON.
func JSONGet(e expr.Expr, path string) expr.Expr { return jsonOf(jsonGetFunction.Get(), e, path) }

// JSONText is [JSONGet] as text: strings without quotes and escapes, null for JSON's null. A cast makes numbers and
// booleans of it.
func JSONText(e expr.Expr, path string) expr.Expr { return jsonOf(jsonTextFunction.Get(), e, path) }

// JSONKeys is the list of the names of the members of the object at a path, null for another value.
func JSONKeys(e expr.Expr, path string) expr.Expr { return jsonOf(jsonKeysFunction.Get(), e, path) }

// JSONElements is the list of the elements, as JSON, of the array at a path, null for another value.
func JSONElements(e expr.Expr, path string) expr.Expr {
	return jsonOf(jsonElementsFunction.Get(), e, path)
}

// JSONType is "object", "array", "string", "number", "boolean" or "null", the type of the value at a path.
func JSONType(e expr.Expr, path string) expr.Expr { return jsonOf(jsonTypeFunction.Get(), e, path) }

func jsonOf(f *hostFunction, e expr.Expr, path string) expr.Expr {
	return onHost(hosted{function: f, text: path}, e)
}

// jsonFunction is a function of the value at a path. It is null without one.
func jsonFunction(name string, result func(h hosted, operands []arrow.DataType) (arrow.DataType, error), add func(value string, to array.Builder)) *hostFunction {
	return &hostFunction{
		name: name,
		result: func(h hosted, operands []arrow.DataType) (arrow.DataType, error) {
			if _, err := jsonPath(h.text); err != nil {
				return nil, err
			}
			return result(h, operands)
		},
		rows: func(_ context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			path, err := jsonPath(h.text)
			text, find := stringsOf(operands[0]), finder(path)
			return func(row int, to array.Builder) {
				if value, ok := find(text(row)); ok {
					add(value, to)
					return
				}
				to.AppendNull()
			}, err
		},
	}
}

// compact returns a valid JSON text without white space between its parts.
func compact(value string) string {
	if !strings.ContainsAny(value, jsonSpace) {
		return value
	}
	var compacted bytes.Buffer
	_ = json.Compact(&compacted, []byte(value)) // it is valid
	return compacted.String()
}

func jsonType(first byte) string {
	switch first {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
