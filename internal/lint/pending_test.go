package lint

// pending holds the folders whose English has not been rewritten yet, with the
// number of hits in 1,000 words that they may have. Numbers only fall; a folder that
// is done leaves the table.
var pending = map[string]float64{}

// pendingNames holds the folders and files with variables that have not been renamed yet, with the
// number of empty names that they may have. Numbers only fall; a folder that is done leaves the table.
var pendingNames = map[string]int{
	"aggregates.go":                  5,
	"arrowdev":                       18,
	"bench":                          68,
	"buffer":                         5,
	"cmd/gpuframe/internal/pipeline": 21,
	"column":                         10,
	"device":                         3,
	"dlpack":                         1,
	"expr.go":                        1,
	"internal/aggregate":             1,
	"internal/arraybits":             7,
	"internal/bitmap":                1,
	"internal/codegen":               15,
	"internal/drivercall":            2,
	"internal/exprtree":              2,
	"internal/format":                1,
	"internal/function":              9,
	"internal/hashtable":             5,
	"internal/hostarray":             3,
	"internal/hosteval":              12,
	"internal/kernelset":             2,
	"internal/layout":                6,
	"internal/op":                    2,
	"internal/querydata":             9,
	"internal/regex":                 6,
	"internal/rowkey":                1,
	"internal/textparse":             2,
	"internal/textrows":              6,
	"internal/textvalue":             2,
	"kernels":                        1,
	"kernels/dictionary":             1,
	"kernels/exchange":               40,
	"kernels/expr":                   33,
	"kernels/group":                  150,
	"kernels/join":                   48,
	"kernels/nested":                 45,
	"kernels/order":                  43,
	"kernels/random":                 2,
	"kernels/reduce":                 7,
	"kernels/selection":              88,
	"kernels/text":                   28,
	"kernels/timezone":               2,
	"kernels/window":                 22,
	"lists.go":                       2,
	"memory":                         24,
	"operators.go":                   1,
	"share":                          30,
	"window.go":                      2,
}
