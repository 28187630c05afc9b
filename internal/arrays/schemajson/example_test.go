package schemajson_test

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	described, err := schemajson.Of(schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := json.Marshal(described)
	fmt.Println(string(text))
	same, err := described.Schema()
	fmt.Println(same.Equal(schema), err)
	// Output:
	// {"fields":[{"name":"city","format":"u","nullable":true}]}
	// true <nil>
}
