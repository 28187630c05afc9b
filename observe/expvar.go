package observe

import (
	"encoding/json"
)

// String returns the snapshot as JSON, so that a Recorder is an expvar.Var:
//
//	expvar.Publish("gpuframe", recorder)
func (r *Recorder) String() string {
	text, err := json.Marshal(r.Snapshot())
	if err != nil {
		return "null" // no value of a Snapshot is refused
	}
	return string(text)
}
