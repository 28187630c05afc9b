package reduce

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/aggregate"
)

// storage is the type itself, or what an extension type is stored as.
func storage(t arrow.DataType) arrow.DataType {
	for {
		extension, ok := t.(arrow.ExtensionType)
		if !ok {
			return t
		}
		t = extension.StorageType()
	}
}

// formOf returns what values of a type are in registers; false for those that can
// only be counted.
func formOf(t arrow.DataType) (form aggregate.Form, ok bool) {
	switch storage(t).ID() {
	case arrow.BOOL:
		return aggregate.Boolean, true
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.DATE32, arrow.TIME32, arrow.INTERVAL_MONTHS:
		return aggregate.Signed32, true
	case arrow.UINT8, arrow.UINT16, arrow.UINT32:
		return aggregate.Unsigned32, true
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return aggregate.Signed64, true
	case arrow.UINT64:
		return aggregate.Unsigned64, true
	case arrow.FLOAT16, arrow.FLOAT32:
		return aggregate.Float32, true
	case arrow.FLOAT64:
		return aggregate.Float64, true
	case arrow.DECIMAL128:
		return aggregate.Wide, true
	}
	return 0, false
}

// isTemporal reports whether the values of a type stand for times.
func isTemporal(t arrow.DataType) bool {
	switch storage(t).ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION, arrow.INTERVAL_MONTHS:
		return true
	}
	return false
}

func isFloat(form aggregate.Form) bool { return form == aggregate.Float32 || form == aggregate.Float64 }

func isSigned(form aggregate.Form) bool {
	return form == aggregate.Signed32 || form == aggregate.Signed64
}
