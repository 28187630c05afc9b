package iceberg_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// seeds are the metadata, the list of manifests, a manifest and the deletion vector of tables with a file of data, and of
// deletes.
func seeds(t testing.TB) (list [][4][]byte) {
	w := newTable(t, "1 n long\n2 s string = \"x\"\n3 d decimal(9,2)\n4 at timestamp")
	w.spec(1, `1000 n_trunc truncate[10] 1 "long"
1001 at_day day 4 {"type": "int", "logicalType": "date"}
1002 d identity 3 "bytes"`)
	w.about["location"], w.about["properties"] = "t", object{"schema.name-mapping.default": `[{"field-id": 1, "names": ["n"]}]`}
	data := w.data("a.parquet", 1, object{"spec": 1, "partition": object{"n_trunc": int64(0), "at_day": 1, "d": []byte{1}}, "lower_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00", 2: "x"}), "upper_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00"})})
	blob := vectorBlob(t, 0)
	vector := w.data("v.puffin", 1, object{"content": 1, "spec": 1, "partition": data["partition"], "file_format": "PUFFIN", "referenced_data_file": data["file_path"], "content_offset": int64(0), "content_size_in_bytes": int64(len(blob))})
	for _, each := range []object{data, vector} {
		w.manifests = nil
		w.commit(each)
		manifest := contents(t, w, strings.TrimPrefix(w.manifests[0]["manifest_path"].(string), w.root))
		w.manifests[0]["manifest_path"] = "t/m.avro"
		w.snapshot()
		w.snapshots[len(w.snapshots)-1]["manifest-list"] = "t/list.avro"
		about, err := json.Marshal(w.about)
		require.NoError(t, err)
		list = append(list, [4][]byte{about, contents(t, w, "metadata/snap-"+jsonText(w.sequence)+".avro"), manifest, blob})
	}
	return list
}

func contents(t testing.TB, w *written, name string) []byte {
	data, err := os.ReadFile(filepath.Join(w.root, name))
	require.NoError(t, err)
	return data
}

// openAny opens a table of any bytes: it is read or refused by an error of the package.
func openAny(t *testing.T, engine *gpuframe.Engine, about, list, manifest, vector []byte) error {
	files := fstest.MapFS{"t/metadata/v1.metadata.json": {Data: about}, "t/list.avro": {Data: list}, "t/m.avro": {Data: manifest}, "t/v.puffin": {Data: vector}}
	table, err := iceberg.Open(t.Context(), "t", iceberg.Options{System: files})
	if err != nil {
		var known *iceberg.Error
		require.ErrorAs(t, err, &known)
		return err
	}
	require.NotNil(t, table.Schema())
	table.Files()
	table.Snapshots()
	table.Refs()
	filtered(t, table.Query(engine), table.Schema())
	return nil
}

// filtered runs a query with a condition on each column, which bounds and partitions are compared with. The files of data are absent:
// it has an error, or leaves out all of them.
func filtered(t *testing.T, q gpuframe.Query, schema *arrow.Schema) {
	for _, f := range schema.Fields() {
		c := gpuframe.Col(f.Name)
		condition := c.IsNull()
		switch f.Type.ID() {
		case arrow.INT32, arrow.INT64, arrow.DECIMAL128:
			condition = c.Ge(5).And(c.Ne(7))
		case arrow.STRING:
			condition = c.Eq("x")
		case arrow.TIMESTAMP:
			condition = c.Lt(time.Date(1970, 1, 3, 0, 0, 0, 0, time.UTC))
		}
		frame, err := q.Filter(condition).Select(gpuframe.Count().As("rows")).Collect(t.Context())
		if err == nil {
			require.NoError(t, frame.Release())
		}
	}
}

func FuzzMetadata(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	engine := openEngine(f)
	f.Fuzz(func(t *testing.T, about, list, manifest, vector []byte) {
		_ = openAny(t, engine, about, list, manifest, vector)
	})
}

// Files with some bytes that differ, are absent or twice there are read or refused.
func TestMutations(t *testing.T) {
	engine := openEngine(t)
	all, random, refused := seeds(t), rand.New(rand.NewPCG(7, 7)), 0
	for _, seed := range all {
		require.NoError(t, openAny(t, engine, seed[0], seed[1], seed[2], seed[3]))
	}
	const rounds = 4000
	for range rounds {
		seed := all[random.IntN(len(all))]
		part := random.IntN(len(seed))
		data := slices.Clone(seed[part])
		for range 1 + random.IntN(3) {
			from := random.IntN(len(data))
			to := min(len(data), from+1+random.IntN(8))
			switch random.IntN(3) {
			case 0:
				data[from] ^= 1 << random.IntN(8)
			case 1:
				data = slices.Delete(data, from, to)
			default:
				data = slices.Insert(data, from, data[from:to]...)
			}
		}
		seed[part] = data
		if openAny(t, engine, seed[0], seed[1], seed[2], seed[3]) != nil {
			refused++
		}
	}
	require.Greater(t, refused, rounds/2)
}
