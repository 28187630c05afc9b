package clickbench

import "github.com/apache/arrow/go/v17/arrow"

// column describes a column by the distribution of its values.
type column struct {
	name     string
	dataType arrow.DataType
	values   distribution
}

// distribution describes values. A share of them is zero or empty; the others are numbers of a power law.
type distribution struct {
	// zeros is the share of rows with zero or an empty text.
	zeros float64
	// distinct is the number of other values. The value of rank r has a probability like 1 / (r + 1)^skew.
	distinct uint64
	skew     float64
	// special are values of the most frequent ranks.
	special []int64
	// spread is set if the numbers use all bits of the type, instead of beginning at one.
	spread bool
	// words makes texts: the number of words of one.
	words int
	// prefix is the beginning of texts.
	prefix string
}

var (
	short, whole, long = arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	text               = arrow.BinaryTypes.String
	day                = arrow.FixedWidthTypes.Date32
	second             = &arrow.TimestampType{Unit: arrow.Second}
)

// flag has ones in a share of the rows.
func flag(ones float64) distribution { return distribution{zeros: 1 - ones, distinct: 1} }

// few has a number of values, the first ones most often.
func few(distinct uint64) distribution { return distribution{distinct: distinct, skew: 1} }

// rare has values in a share of the rows.
func rare(share float64, d distribution) distribution {
	d.zeros = 1 - share
	return d
}

func texts(distinct uint64, words int, prefix string) distribution {
	return distribution{distinct: distinct, skew: 0.8, words: words, prefix: prefix}
}

// columns are the columns of hits in their order.
var columns = []column{
	{"WatchID", long, distribution{distinct: 1 << 62, spread: true}}, {"JavaEnable", short, flag(0.7)},
	{"Title", text, rare(0.85, texts(40_000, 5, ""))}, {"GoodEvent", short, flag(1)},
	{"EventTime", second, distribution{}}, {"EventDate", day, distribution{}},
	{"CounterID", whole, distribution{distinct: 6_000, skew: 1.1, special: []int64{62, 3922, 199550, 114157, 198018}}},
	{"ClientIP", whole, distribution{distinct: 900_000, skew: 0.6, spread: true}}, {"RegionID", whole, few(5_000)},
	{"UserID", long, distribution{distinct: 1_700_000, skew: 0.7, spread: true, special: []int64{1313338681122956954, 435090932899640449}}},
	{"CounterClass", short, few(3)}, {"OS", short, few(90)}, {"UserAgent", short, few(80)},
	{"URL", text, texts(200_000, 4, "http://")}, {"Referer", text, rare(0.8, texts(200_000, 4, "http://"))},
	{"IsRefresh", short, flag(0.12)}, {"RefererCategoryID", short, rare(0.3, few(40))}, {"RefererRegionID", whole, rare(0.4, few(3_000))},
	{"URLCategoryID", short, rare(0.4, few(50))}, {"URLRegionID", whole, rare(0.4, few(3_000))},
	{"ResolutionWidth", short, few(2_000)}, {"ResolutionHeight", short, few(1_500)}, {"ResolutionDepth", short, few(8)},
	{"FlashMajor", short, few(12)}, {"FlashMinor", short, few(5)}, {"FlashMinor2", text, rare(0.6, texts(60, 1, ""))},
	{"NetMajor", short, few(4)}, {"NetMinor", short, few(4)}, {"UserAgentMajor", short, few(60)}, {"UserAgentMinor", text, texts(100, 1, "")},
	{"CookieEnable", short, flag(0.99)}, {"JavascriptEnable", short, flag(0.99)}, {"IsMobile", short, flag(0.06)},
	{"MobilePhone", short, rare(0.06, few(80))}, {"MobilePhoneModel", text, rare(0.055, texts(160, 1, ""))}, {"Params", text, rare(0.02, texts(500, 3, ""))},
	{"IPNetworkID", whole, few(30_000)}, {"TraficSourceID", short, distribution{zeros: 0.3, distinct: 9, skew: 1}},
	{"SearchEngineID", short, rare(0.15, few(90))}, {"SearchPhrase", text, rare(0.13, texts(60_000, 3, ""))},
	{"AdvEngineID", short, rare(0.006, few(20))}, {"IsArtifical", short, flag(0.02)},
	{"WindowClientWidth", short, few(2_500)}, {"WindowClientHeight", short, few(1_600)}, {"ClientTimeZone", short, few(40)},
	{"ClientEventTime", second, distribution{}}, {"SilverlightVersion1", short, rare(0.6, few(5))}, {"SilverlightVersion2", short, rare(0.3, few(3))},
	{"SilverlightVersion3", whole, rare(0.6, few(60_000))}, {"SilverlightVersion4", short, rare(0.1, few(3))},
	{"PageCharset", text, texts(8, 1, "")}, {"CodeVersion", whole, few(900)}, {"IsLink", short, flag(0.05)}, {"IsDownload", short, flag(0.01)},
	{"IsNotBounce", short, flag(0.1)}, {"FUniqID", long, distribution{zeros: 0.2, distinct: 1_500_000, skew: 0.7, spread: true}},
	{"OriginalURL", text, rare(0.5, texts(150_000, 4, "http://"))}, {"HID", whole, distribution{distinct: 1 << 30, spread: true}},
	{"IsOldCounter", short, flag(0)}, {"IsEvent", short, flag(0)}, {"IsParameter", short, flag(0)}, {"DontCountHits", short, flag(0.3)},
	{"WithHash", short, flag(0)}, {"HitColor", text, texts(3, 1, "")}, {"LocalEventTime", second, distribution{}},
	{"Age", short, rare(0.5, few(60))}, {"Sex", short, rare(0.5, few(2))}, {"Income", short, rare(0.5, few(4))},
	{"Interests", short, rare(0.5, few(20_000))}, {"Robotness", short, rare(0.1, few(8))}, {"RemoteIP", whole, distribution{distinct: 800_000, skew: 0.6, spread: true}},
	{"WindowName", whole, rare(0.4, few(100_000))}, {"OpenerName", whole, rare(0.4, few(100_000))}, {"HistoryLength", short, few(60)},
	{"BrowserLanguage", text, texts(60, 1, "")}, {"BrowserCountry", text, texts(80, 1, "")},
	{"SocialNetwork", text, rare(0.001, texts(12, 1, ""))}, {"SocialAction", text, rare(0.001, texts(10, 1, ""))},
	{"HTTPError", short, rare(0.001, few(10))}, {"SendTiming", whole, rare(0.3, few(20_000))}, {"DNSTiming", whole, rare(0.3, few(10_000))},
	{"ConnectTiming", whole, rare(0.3, few(10_000))}, {"ResponseStartTiming", whole, rare(0.3, few(30_000))},
	{"ResponseEndTiming", whole, rare(0.3, few(30_000))}, {"FetchTiming", whole, rare(0.3, few(30_000))},
	{"SocialSourceNetworkID", short, rare(0.01, few(10))}, {"SocialSourcePage", text, rare(0.01, texts(300, 3, "http://"))},
	{"ParamPrice", long, rare(0.001, few(20_000))}, {"ParamOrderID", text, rare(0.001, texts(2_000, 1, ""))}, {"ParamCurrency", text, rare(0.001, texts(4, 1, ""))},
	{"ParamCurrencyID", short, rare(0.001, few(4))}, {"OpenstatServiceName", text, rare(0.02, texts(20, 1, ""))}, {"OpenstatCampaignID", text, rare(0.02, texts(400, 1, ""))},
	{"OpenstatAdID", text, rare(0.02, texts(900, 1, ""))}, {"OpenstatSourceID", text, rare(0.02, texts(600, 1, ""))},
	{"UTMSource", text, rare(0.03, texts(100, 1, ""))}, {"UTMMedium", text, rare(0.03, texts(30, 1, ""))}, {"UTMCampaign", text, rare(0.03, texts(500, 2, ""))},
	{"UTMContent", text, rare(0.02, texts(800, 2, ""))}, {"UTMTerm", text, rare(0.01, texts(900, 2, ""))}, {"FromTag", text, rare(0.02, texts(300, 1, ""))},
	{"HasGCLID", short, flag(0.02)},
	{"RefererHash", long, distribution{zeros: 0.2, distinct: 300_000, skew: 0.9, spread: true, special: []int64{3594120000172545465}}},
	{"URLHash", long, distribution{distinct: 300_000, skew: 0.9, spread: true, special: []int64{2868770270353813622}}},
	{"CLID", whole, rare(0.05, few(9_000))},
}

// Schema returns the schema of hits. No column has nulls.
func Schema() *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.dataType}
	}
	return arrow.NewSchema(fields, nil)
}
