package column_test

import arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

func buffer(bytes []byte) *arrowmemory.Buffer { return arrowmemory.NewBufferBytes(bytes) }
