//go:build tinygo

package source

import (
	"encoding/json"
	"io"
)

// newJSONDecoder returns the decoder that builders of arrow-go take with this tag.
func newJSONDecoder(r io.Reader) *json.Decoder { return json.NewDecoder(r) }
