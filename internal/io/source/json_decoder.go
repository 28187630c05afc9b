//go:build !tinygo

package source

import (
	"io"

	gojson "github.com/goccy/go-json"
)

// newJSONDecoder returns the decoder that builders of arrow-go take. With the build tag tinygo arrow-go takes that of
// encoding/json, and programs are 1.5 MB smaller.
func newJSONDecoder(r io.Reader) *gojson.Decoder { return gojson.NewDecoder(r) }
