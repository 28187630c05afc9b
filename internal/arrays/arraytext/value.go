// Package arraytext writes values of Arrow arrays as text for people to read.
package arraytext

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// Value returns element i as text: null for a null. A panic in the code of an extension
// type becomes text, too.
func Value(a arrow.Array, i int) (text string) {
	defer func() {
		if problem := recover(); problem != nil {
			text = fmt.Sprintf("(%v: %v)", a.DataType(), problem)
		}
	}()
	if a.IsNull(i) {
		return "null"
	}
	return a.ValueStr(i)
}
