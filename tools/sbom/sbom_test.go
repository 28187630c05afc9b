package main

import (
	"bytes"
	"os"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The test's own program is described: its modules are in the bill, and the bytes are the same again.
func TestWrite(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		if err := write(to, "v1.2.3", []string{program}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatal("the bytes differ")
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range *bom.Components {
		versions[c.Name] = c.Version
	}
	if versions["github.com/CycloneDX/cyclonedx-go"] == "" || versions["std"] == "" || versions[project+"/tools"] != "v1.2.3" {
		t.Fatalf("modules are missing: %v", versions)
	}
	if err := write(&second, "v1.2.3", []string{"main.go"}); err == nil {
		t.Fatal("a text was described")
	}
}
