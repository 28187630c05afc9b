package iceberg_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/iceberg"
)

// contents returns the files of a written table by their paths below its folder.
func contents(f *testing.F, w *written, names ...string) (list [][]byte) {
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(w.root, name))
		require.NoError(f, err)
		list = append(list, data)
	}
	return list
}

// Metadata, a list of manifests, a manifest and a deletion vector of any bytes are read or refused by an error of the package.
func FuzzMetadata(f *testing.F) {
	w := newTable(f, "1 n long\n2 s string = \"x\"\n3 d decimal(9,2)\n4 at timestamp")
	w.spec(1, `1000 n_trunc truncate[10] 1 "long"
1001 at_day day 4 {"type": "int", "logicalType": "date"}
1002 d identity 3 "bytes"`)
	w.about["location"], w.about["properties"] = "t", object{"schema.name-mapping.default": `[{"field-id": 1, "names": ["n"]}]`}
	w.parquet("a.parquet", []arrow.Field{long(1, "n")}, `[{"n": 1}]`)
	data := w.data("a.parquet", 1, object{"spec": 1, "partition": object{"n_trunc": int64(0), "at_day": 1, "d": []byte{1}}, "lower_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00", 2: "x"}), "upper_bounds": bounds(map[int]string{1: "\x01\x00\x00\x00"})})
	vector := w.data("v.puffin", 1, object{"content": 1, "spec": 1, "partition": data["partition"], "file_format": "PUFFIN", "referenced_data_file": data["file_path"], "content_offset": int64(0), "content_size_in_bytes": int64(len(vectorBlob(f, 0)))})
	for _, each := range []object{data, vector} {
		w.manifests = nil
		w.commit(each)
		for _, m := range w.manifests {
			m["manifest_path"] = strings.Replace(m["manifest_path"].(string), w.root, "t", 1)
		}
		w.snapshot()
		w.snapshots[len(w.snapshots)-1]["manifest-list"] = "t/list.avro"
		about, err := json.Marshal(w.about)
		require.NoError(f, err)
		kind := map[bool]string{true: "data", false: "deletes"}[each["content"] == 0]
		sequence := jsonText(w.sequence)
		parts := contents(f, w, "metadata/snap-"+sequence+".avro", "metadata/"+sequence+"-"+kind+"-1.avro")
		f.Add(about, parts[0], parts[1], vectorBlob(f, 0))
	}
	f.Fuzz(func(t *testing.T, about, list, manifest, vector []byte) {
		files := fstest.MapFS{"t/metadata/v1.metadata.json": {Data: about}, "t/list.avro": {Data: list}, "t/v.puffin": {Data: vector}}
		for _, name := range []string{"t/metadata/1-data-1.avro", "t/metadata/2-deletes-1.avro", "t/m.avro"} {
			files[name] = &fstest.MapFile{Data: manifest}
		}
		table, err := iceberg.Open(t.Context(), "t", iceberg.Options{System: files})
		if err != nil {
			var known *iceberg.Error
			require.ErrorAs(t, err, &known)
			return
		}
		require.NotNil(t, table.Schema())
		table.Files()
		table.Snapshots()
		table.Refs()
	})
}
