package substrait

import (
	"encoding/json"
	"fmt"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Earlier versions name extensions by locations: a list in the plan, and a reference in each declaration. Their
// fields have the number 1 in both.
const (
	locations      = "extensionUris"
	location       = "extensionUriReference"
	locationNumber = 1
)

// withoutLocations removes the locations of extensions from a plan in JSON.
func withoutLocations(text []byte) ([]byte, error) {
	plan := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &plan); err != nil {
		return nil, err
	}
	delete(plan, locations)
	delete(plan, "extension_uris")
	if plan["extensions"] != nil {
		var declarations []map[string]map[string]json.RawMessage
		if err := json.Unmarshal(plan["extensions"], &declarations); err != nil {
			return nil, fmt.Errorf("extensions: %w", err)
		}
		for _, d := range declarations {
			for _, fields := range d {
				delete(fields, location)
				delete(fields, "extension_uri_reference")
			}
		}
		var err error
		if plan["extensions"], err = json.Marshal(declarations); err != nil {
			return nil, err
		}
	}
	return json.Marshal(plan)
}

// onlyKnown returns an error for a message with fields that this version of Substrait does not have.
func onlyKnown(plan *substraitpb.Plan) error {
	path, known := unknown(plan.ProtoReflect())
	if !known {
		return fmt.Errorf("plan%s has fields that Substrait 0.85 does not have", path)
	}
	return nil
}

// unknown looks for a message with unknown fields, and returns its path.
func unknown(m protoreflect.Message) (path string, known bool) {
	if !onlyLocations(m) {
		return "", false
	}
	known = true
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && known; i++ {
				if path, known = unknown(v.List().Get(i).Message()); !known {
					path = "." + element(f.JSONName(), i) + path
				}
			}
		default:
			if path, known = unknown(v.Message()); !known {
				path = "." + f.JSONName() + path
			}
		}
		return known
	})
	return path, known
}

// onlyLocations reports whether the unknown fields of a message are those of locations.
func onlyLocations(m protoreflect.Message) bool {
	rest := m.GetUnknown()
	if len(rest) == 0 {
		return true
	}
	switch m.Descriptor().Name() {
	case "Plan", "ExtensionFunction", "ExtensionType", "ExtensionTypeVariation":
	default:
		return false
	}
	for len(rest) > 0 {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 || number != locationNumber {
			return false
		}
		rest = rest[n:]
	}
	return true
}
