package querydata

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
)

// reading is the decoding of one document. After the first error everything else is decoded
// as zero values, so that functions need not return errors.
type reading struct {
	ctx context.Context
	err *Error
	// functions are those of the options.
	functions []gpuframe.UserFunction
	// depth is the number of expressions around the one at hand.
	depth int
}

// fail records the first error.
func (r *reading) fail(place, format string, arguments ...any) {
	if r.err == nil {
		r.err = &Error{Place: place, Reason: fmt.Sprintf(format, arguments...)}
	}
}

// failAs records the first error, with its cause.
func (r *reading) failAs(place string, cause error) {
	if r.err == nil {
		r.err = &Error{Place: place, Reason: cause.Error(), Cause: cause}
	}
}

// stopped reports whether the decoding has ended early: after an error, or with its context.
func (r *reading) stopped(place string) bool {
	if err := r.ctx.Err(); err != nil {
		r.fail(place, "%v", err)
	}
	return r.err != nil
}

// value is a part of a document. The data of a member that is missing is nil.
type value struct {
	reading *reading
	place   string
	data    any
}

// expected records an error about the value.
func (v value) expected(what string) {
	if v.data == nil {
		v.reading.fail(v.place, "is missing or null, expected %s", what)
		return
	}
	text, err := json.Marshal(v.data)
	const most = 40
	if err != nil || len(text) > most {
		text = []byte(kindOf(v.data))
	}
	v.reading.fail(v.place, "is %s, expected %s", text, what)
}

func kindOf(data any) string {
	switch data.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	}
	return "a value"
}

func (v value) missing() bool { return v.data == nil }

// text returns a string.
func (v value) text() string {
	s, ok := v.data.(string)
	if !ok {
		v.expected("a string")
	}
	return s
}

// textOr returns a string, or another one if it is missing.
func (v value) textOr(other string) string {
	if v.missing() {
		return other
	}
	return v.text()
}

// character returns a string of one character.
func (v value) character() rune {
	list := []rune(v.text())
	if len(list) != 1 {
		v.expected("one character")
		return 0
	}
	return list[0]
}

// characters returns a string of one character, or nothing if it is missing.
func (v value) characters() []rune {
	if v.missing() {
		return nil
	}
	return []rune{v.character()}
}

// flag returns a bool, false if it is missing.
func (v value) flag() bool {
	b, ok := v.data.(bool)
	if !ok && !v.missing() {
		v.expected("true or false")
	}
	return b
}

// integer returns a whole number.
func (v value) integer() int64 {
	if n, ok := v.data.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i
		}
	}
	v.expected("a whole number of 64 bits")
	return 0
}

// count returns a whole number that an int of 32 bits holds.
func (v value) count() int {
	i := v.integer()
	if i != int64(int32(i)) {
		v.expected("a whole number of 32 bits")
		return 0
	}
	return int(i)
}

// number returns a finite number.
func (v value) number() float64 {
	if n, ok := v.data.(json.Number); ok {
		if f, err := n.Float64(); err == nil && !math.IsInf(f, 0) {
			return f
		}
	}
	v.expected("a number of 64 bits")
	return 0
}

// list returns the elements of a list; a missing list has none.
func (v value) list() []value {
	if v.missing() {
		return nil
	}
	elements, ok := v.data.([]any)
	if !ok {
		v.expected("a list")
	}
	values := make([]value, len(elements))
	for i, e := range elements {
		values[i] = value{v.reading, fmt.Sprintf("%s[%d]", v.place, i), e}
	}
	return values
}

// texts returns a list of strings.
func (v value) texts() []string {
	var list []string
	for _, e := range v.list() {
		list = append(list, e.text())
	}
	return list
}

// numbers returns a list of numbers, which is empty if it is missing.
func (v value) numbers() (list []float64) {
	for _, e := range v.list() {
		list = append(list, e.number())
	}
	return list
}

// dates returns a list of dates, which is empty if it is missing.
func (v value) dates() (days []time.Time) {
	for _, day := range v.list() {
		days = append(days, day.instant())
	}
	return days
}

// object returns an object.
func (v value) object() *object {
	members, ok := v.data.(map[string]any)
	if !ok {
		v.expected("an object")
	}
	return &object{value: v, members: members}
}

// object is an object of which members are read by name.
type object struct {
	value
	members map[string]any
	read    []string
}

// member returns a member, which may be missing.
func (o *object) member(name string) value {
	o.read = append(o.read, name)
	place := name
	if o.place != "" {
		place = o.place + "." + name
	}
	return value{o.reading, place, o.members[name]}
}

// has reports whether there is a member, null or not.
func (o *object) has(name string) bool {
	_, ok := o.members[name]
	return ok
}

// end reports a member that was not read.
func (o *object) end() {
	var unread []string
	for name := range o.members {
		if !slices.Contains(o.read, name) {
			unread = append(unread, name)
		}
	}
	if len(unread) > 0 {
		slices.Sort(unread)
		o.reading.fail(o.place, "%s", names.Unknown("member", strings.ToValidUTF8(unread[0], "?"), o.read))
	}
}
