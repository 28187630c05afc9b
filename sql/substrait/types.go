package substrait

import (
	"fmt"

	"github.com/substrait-io/substrait-protobuf/go/substraitpb"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// typeOf returns the type of SQL for one of Substrait. Lengths of texts are not checked by the engine.
func typeOf(path string, typ *substraitpb.Type) (*tree.Type, error) {
	named := func(name string, parameters ...int64) (*tree.Type, error) {
		return &tree.Type{Name: name, Params: parameters}, nil
	}
	switch k := typ.GetKind().(type) {
	case *substraitpb.Type_Bool:
		return named("boolean")
	case *substraitpb.Type_I8_:
		return named("tinyint")
	case *substraitpb.Type_I16_:
		return named("smallint")
	case *substraitpb.Type_I32_:
		return named("integer")
	case *substraitpb.Type_I64_:
		return named("bigint")
	case *substraitpb.Type_Fp32:
		return named("real")
	case *substraitpb.Type_Fp64:
		return named("double")
	case *substraitpb.Type_String_, *substraitpb.Type_FixedChar_, *substraitpb.Type_Varchar:
		return named("varchar")
	case *substraitpb.Type_Binary_, *substraitpb.Type_FixedBinary_:
		return named("blob")
	case *substraitpb.Type_Date_:
		return named("date")
	case *substraitpb.Type_Time_:
		return named("time")
	case *substraitpb.Type_Timestamp_:
		return named("timestamp")
	case *substraitpb.Type_TimestampTz, *substraitpb.Type_PrecisionTimestampTz:
		return named("timestamp with time zone")
	case *substraitpb.Type_PrecisionTimestamp_:
		switch p := k.PrecisionTimestamp.GetPrecision(); {
		case p == 0:
			return named("timestamp_s")
		case p <= 3:
			return named("timestamp_ms")
		case p <= 6:
			return named("timestamp")
		default:
			return named("timestamp_ns")
		}
	case *substraitpb.Type_Decimal_:
		return named("decimal", int64(k.Decimal.GetPrecision()), int64(k.Decimal.GetScale()))
	case *substraitpb.Type_List_:
		e, err := typeOf(path+".list", k.List.GetType())
		return &tree.Type{Name: "list", Element: e}, err
	}
	return nil, failed(path, "type %s is not supported", kindName(typ))
}

// kindName is the name of a kind of type for messages.
func kindName(typ *substraitpb.Type) string {
	if typ.GetKind() == nil {
		return "without a kind"
	}
	return fmt.Sprintf("%T", typ.GetKind())[len("*substraitpb.Type_"):]
}
