package substrait

import (
	"encoding/json"
	"fmt"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Earlier versions name extensions by locations: a list in the plan, and a reference in each declaration. Their
// fields have the number 1 in both.
const (
	locations = "extensionUris"
	location  = "extensionUriReference"
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
func onlyKnown(plan *substraitpb.Plan) (err error) {
	var visit func(path string, m protoreflect.Message) bool
	visit = func(path string, m protoreflect.Message) bool {
		if len(m.GetUnknown()) > 0 && !isLocation(m) {
			err = fmt.Errorf("%s has fields that Substrait 0.85 does not have", path)
			return false
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			at := path + "." + f.JSONName()
			switch {
			case f.IsMap() || f.Message() == nil:
			case f.IsList():
				for i := range v.List().Len() {
					if !visit(element(at, i), v.List().Get(i).Message()) {
						return false
					}
				}
			default:
				return visit(at, v.Message())
			}
			return true
		})
		return err == nil
	}
	visit("plan", plan.ProtoReflect())
	return err
}

// isLocation reports whether the unknown fields of a message can be those of locations.
func isLocation(m protoreflect.Message) bool {
	switch m.Descriptor().Name() {
	case "Plan", "ExtensionFunction", "ExtensionType", "ExtensionTypeVariation":
		return true
	}
	return false
}
