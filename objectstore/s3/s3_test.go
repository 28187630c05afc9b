package s3_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/objectstore/s3"
)

func TestConforms(t *testing.T) {
	objecttest.Conforms(t, storeAt(t, gateway(t), "secret"), bucket+"folder/")
}

// A wrong secret, no signature, another bucket and a URL without one are typed errors without the secret.
func TestRefused(t *testing.T) {
	endpoint := gateway(t)
	_, _, err := storeAt(t, endpoint, "hidden").List(t.Context(), bucket, "")
	require.ErrorIs(t, err, objectstore.ErrCredentials)
	require.ErrorIs(t, err, fs.ErrPermission)
	assert.NotContains(t, err.Error(), "hidden")
	assert.ErrorContains(t, err, "SignatureDoesNotMatch")
	anonymous, err := s3.New(t.Context(), s3.Options{Endpoint: endpoint, Anonymous: true})
	require.NoError(t, err)
	_, _, err = anonymous.List(t.Context(), bucket, "")
	require.ErrorIs(t, err, fs.ErrPermission)
	store := storeAt(t, endpoint, "secret")
	_, _, err = store.List(t.Context(), "s3://other/", "")
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, name := range []string{"s3://bucket", "s3:///key", "bucket/key"} {
		_, err = store.Stat(t.Context(), name)
		require.ErrorIs(t, err, objectstore.ErrResponse, name)
	}
}

// Answers of a server become conditions by their codes.
func TestConditions(t *testing.T) {
	for code, test := range property.InOrder(map[string]struct {
		status int
		want   error
	}{
		"SlowDown": {503, objectstore.ErrThrottled}, "ExpiredToken": {400, objectstore.ErrCredentials}, "InternalError": {500, objectstore.ErrUnavailable},
		"AccessDenied": {403, fs.ErrPermission}, "NoSuchKey": {404, fs.ErrNotExist}, "PreconditionFailed": {412, objectstore.ErrChanged}, "Strange": {409, objectstore.ErrResponse},
	}) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Request-Id", "4711")
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte("<Error><Code>" + code + "</Code><Message>the message</Message></Error>"))
		}))
		err := storeAt(t, server.URL, "hidden").ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 10, ETag: `"x"`}, make([]byte, 3), 1)
		server.Close()
		require.ErrorIs(t, err, test.want, code)
		var failed *objectstore.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, objectstore.Error{Operation: "read", URL: bucket + "a", Status: test.status, Code: code, RequestID: "4711", RetryAfter: 3 * time.Second, Err: failed.Err}, *failed)
		assert.ErrorContains(t, err, "the message")
		assert.NotContains(t, err.Error(), "hidden")
	}
	err := storeAt(t, "http://127.0.0.1:1", "hidden").ReadRange(t.Context(), objectstore.Object{Name: bucket + "a", Size: 10}, make([]byte, 3), 1)
	require.ErrorIs(t, err, objectstore.ErrUnavailable)
	require.NoError(t, s3.Registered())
}

// A list that goes on without another token is an error, and no short list.
func TestTokens(t *testing.T) {
	for _, token := range []string{"", "again"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>" + token + "</NextContinuationToken></ListBucketResult>"))
		}))
		_, _, err := storeAt(t, server.URL, "hidden").List(t.Context(), bucket, token)
		server.Close()
		require.ErrorIs(t, err, objectstore.ErrResponse)
		assert.ErrorContains(t, err, "token is empty or repeated")
	}
}

// More parts than S3 accepts are an error before they are sent.
func TestMostParts(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = w.Write([]byte("<InitiateMultipartUploadResult><UploadId>a</UploadId></InitiateMultipartUploadResult>"))
	}))
	defer server.Close()
	upload, err := storeAt(t, server.URL, "hidden").Create(t.Context(), bucket+"a")
	require.NoError(t, err)
	require.NoError(t, upload.WritePart(t.Context(), 9_999, []byte("a")))
	require.ErrorIs(t, upload.WritePart(t.Context(), 10_000, []byte("a")), errors.ErrUnsupported)
	assert.Equal(t, 2, requests)
}

// Each answer of an upload may be lost: the object has all bytes, and the upload has ended.
func TestLostAnswers(t *testing.T) {
	proxy := objecttest.NewProxy(t, gateway(t))
	store := objectstore.WithRetry(storeAt(t, proxy.URL, "secret"), objectstore.Retry{Pause: time.Nanosecond})
	contents := make([]byte, objectstore.PartBytes+5)
	for i := range contents {
		contents[i] = byte(i * i >> 8)
	}
	for lost := int64(1); lost <= 4; lost++ {
		name := bucket + "lost-" + string(rune('0'+lost))
		begin := proxy.Requests.Load()
		proxy.Fault = func(*http.Request) objecttest.Fault {
			if proxy.Requests.Load()-begin == lost {
				return objecttest.Lost
			}
			return objecttest.NoFault
		}
		upload, err := store.Create(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, upload.WritePart(t.Context(), 0, contents[:objectstore.PartBytes]))
		require.NoError(t, upload.WritePart(t.Context(), 1, contents[objectstore.PartBytes:]))
		require.NoError(t, upload.Commit(t.Context(), 2))
		object, err := store.Stat(t.Context(), name)
		require.NoError(t, err)
		read := make([]byte, object.Size)
		require.NoError(t, store.ReadRange(t.Context(), object, read, 0))
		require.True(t, bytes.Equal(contents, read))
	}
	proxy.Fault = nil
	upload, err := store.Create(t.Context(), bucket+"none")
	require.NoError(t, err)
	require.NoError(t, upload.WritePart(t.Context(), 0, contents[:5]))
	require.NoError(t, upload.Abort(t.Context()))
	for range 2 {
		require.ErrorIs(t, upload.Commit(t.Context(), 1), fs.ErrNotExist, "an upload that was given up is no object")
	}
	_, err = store.Stat(t.Context(), bucket+"none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// numbersOf returns a record of numbers, their parity and a text.
func numbersOf(rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for n := range rows {
		builder.Field(0).(*array.Int64Builder).Append(int64(n))
		builder.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", n%20))
	}
	return builder.NewRecord()
}

var formats = map[string]struct {
	format gpuframe.Format
	read   func(files gpuframe.Files, paths ...string) gpuframe.Query
}{
	"parquet": {gpuframe.ParquetWith(gpuframe.ParquetOptions{GroupRows: 20000, PageRows: 1000}), gpuframe.Files.Parquet},
	"csv":     {gpuframe.CSV(), func(f gpuframe.Files, paths ...string) gpuframe.Query { return f.CSV(gpuframe.CSVOptions{}, paths...) }},
	"json": {gpuframe.JSONLines(), func(f gpuframe.Files, paths ...string) gpuframe.Query {
		return f.JSON(gpuframe.JSONOptions{}, paths...)
	}},
	"arrow": {gpuframe.IPC(), gpuframe.Files.IPC},
}

// Queries write and read all formats, by names, patterns and partitions, while a part of the requests fail.
func TestQueries(t *testing.T) {
	proxy := objecttest.NewProxy(t, gateway(t))
	random := property.Random(t)
	var mu sync.Mutex
	faults := 0
	proxy.Fault = func(r *http.Request) objecttest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(5) > 0 {
			return objecttest.NoFault
		}
		faults++
		kinds := []objecttest.Fault{objecttest.Throttled, objecttest.Failed, objecttest.Reset, objecttest.Short}
		if r.Method != http.MethodGet {
			kinds = append(kinds[:3], objecttest.Lost)
		}
		return kinds[random.IntN(len(kinds))]
	}
	store := objectstore.WithRetry(storeAt(t, proxy.URL, "secret"), objectstore.Retry{Pause: time.Millisecond, MostPause: time.Millisecond, Attempts: 20})
	require.NoError(t, objectstore.Register("s3-faults", func() (objectstore.Store, error) { return store, nil }))
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, gpu.Close()) }()
	record := numbersOf(50000)
	files := gpu.Objects(store)
	n := gpuframe.Col("n")
	for extension, format := range property.InOrder(formats) {
		for k, condition := range []gpuframe.Expr{n.Lt(30000), n.Ge(30000)} {
			name := "s3-faults://bucket/" + extension + "/k=" + string(rune('0'+k)) + "/a." + extension
			rows, err := gpu.Records(record.Schema(), record).Filter(condition).WriteFile(t.Context(), name, format.format)
			require.NoError(t, err, extension)
			assert.EqualValues(t, []int64{30000, 20000}[k], rows)
		}
		for _, path := range []string{"/", "/k=*/*." + extension, "/k=*"} {
			result, err := format.read(files, bucket+extension+path).Filter(gpuframe.Col("k").Eq(1), n.Lt(40000)).GroupBy().Agg(n.Sum().As("sum")).Collect(t.Context())
			require.NoError(t, err, extension)
			sum, err := result.Record(t.Context())
			require.NoError(t, err)
			assert.Equal(t, int64(10000*(30000+39999)/2), sum.Column(0).(*array.Int64).Value(0), extension)
			sum.Release()
			require.NoError(t, result.Release())
		}
	}
	for _, existing := range []gpuframe.Existing{gpuframe.RefuseExisting, gpuframe.OverwritePartitions, gpuframe.OverwriteFolder} {
		options := gpuframe.FolderOptions{PartitionBy: []string{"text"}, FileRows: 2000, Existing: existing, Manifest: "_manifest.json"}
		manifest, err := gpu.Records(record.Schema(), record).WriteFiles(t.Context(), "s3-faults://bucket/folder", gpuframe.Parquet(), options)
		require.NoError(t, err)
		require.Len(t, manifest.Files, 40)
		result, err := files.Parquet(bucket + "folder").Collect(t.Context())
		require.NoError(t, err)
		assert.EqualValues(t, 50000, result.NumRows())
		require.NoError(t, result.Release())
	}
	assert.Positive(t, faults)
	_, err = files.Parquet(bucket + "none/*.parquet").Collect(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.False(t, errors.Is(err, objectstore.ErrUnavailable))
}
