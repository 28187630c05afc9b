package gpuframe_test

import (
	"os"
	"strconv"
)

func limitScale() int64 {
	if os.Getenv("NOLIMIT") != "" {
		return 1 << 30
	}
	return 1
}

func init() {
	if n, err := strconv.Atoi(os.Getenv("CASES")); err == nil {
		offsetCases = n
	}
}

var offsetCases = 150
