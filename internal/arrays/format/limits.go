package format

// The limits of schemas from other libraries, which may be faulty. Valid schemas are
// far below them.
const (
	// MaximumDepth is the maximum nesting depth of types. A type without children has
	// depth one.
	MaximumDepth = 64
	// MaximumChildren is the maximum number of children of a type.
	MaximumChildren = 1 << 16
	// MaximumFields is the maximum number of fields in a schema.
	MaximumFields = 1 << 18
	// MaximumText is the maximum length of a format string or name in bytes.
	MaximumText = 1 << 20
	// MaximumMetadata is the maximum size of a metadata blob in bytes.
	MaximumMetadata = 1 << 26
	// MaximumPairs is the maximum number of pairs of a metadata blob.
	MaximumPairs = 1 << 16
	// MaximumTotal is the maximum size of all texts and blobs of a schema together in
	// bytes.
	MaximumTotal = 1 << 28
	// MaximumTimeZone is the maximum length of the name of a time zone in bytes.
	MaximumTimeZone = 1 << 10
)

// Bits of ArrowSchema.flags. Others are ignored.
const (
	FlagDictionaryOrdered = 1 << 0
	FlagNullable          = 1 << 1
	FlagMapKeysSorted     = 1 << 2
)
