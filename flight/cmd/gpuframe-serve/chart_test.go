package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/gpuframe/gpuframe"
)

const chartFolder = "../../../deploy/helm/gpuframe-serve"

// object is an object of Kubernetes or a part of one, or the values of a chart.
type object = map[string]any

// readYAML returns the documents of a text.
func readYAML(t *testing.T, text []byte) (documents []object) {
	t.Helper()
	for _, part := range strings.Split(string(text), "\n---\n") {
		var document object
		require.NoError(t, yaml.Unmarshal([]byte(part), &document), part)
		documents = append(documents, document)
	}
	return documents
}

// render returns the objects of the chart by their kinds. The templates use no function but toJson, which Helm has too.
// Values take the place of the chart's own, members of maps one by one, and nil removes one, as in Helm. Numbers are
// float64, as those of a file of values are in Helm, and members that are missing are nil.
func render(t *testing.T, values object) map[string]object {
	t.Helper()
	own, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	require.NoError(t, err)
	text, err := json.Marshal(merged(readYAML(t, own)[0], values))
	require.NoError(t, err)
	var all object
	require.NoError(t, json.Unmarshal(text, &all))
	data := object{"Values": all, "Release": object{"Name": "gpuframe-serve"}, "Chart": object{"AppVersion": "1.2.3"}}
	paths, err := filepath.Glob(filepath.Join(chartFolder, "templates", "*"))
	require.NoError(t, err)
	missing := "missingkey=zero"
	if values == nil {
		missing = "missingkey=error" // values.yaml has every value that the templates name
	}
	objects := map[string]object{}
	for _, path := range paths {
		functions := template.FuncMap{"toJson": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		}}
		parsed, err := template.New(filepath.Base(path)).Funcs(functions).Option(missing).ParseFiles(path)
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, parsed.Execute(&text, data))
		require.NotContains(t, text.String(), "<no value>")
		for _, each := range readYAML(t, text.Bytes()) {
			if each != nil {
				objects[each["kind"].(string)] = each
			}
		}
	}
	return objects
}

func merged(into, from object) object {
	result := maps.Clone(into)
	for name, value := range from {
		inner, isMap := result[name].(object)
		if members, ok := value.(object); ok && isMap {
			result[name] = merged(inner, members)
		} else if value == nil {
			delete(result, name)
		} else {
			result[name] = value
		}
	}
	return result
}

// pod returns the specification of the pods and of their container. The variables are in the order of their names.
func pod(t *testing.T, deployment object) (specification, container object) {
	t.Helper()
	specification = deployment["spec"].(object)["template"].(object)["spec"].(object)
	container = specification["containers"].([]any)[0].(object)
	slices.SortFunc(container["env"].([]any), func(a, b any) int {
		return cmp.Compare(a.(object)["name"].(string), b.(object)["name"].(string))
	})
	return specification, container
}

// variablesOf returns the variables of a container, each of which has one value, a string.
func variablesOf(t *testing.T, container object) map[string]string {
	t.Helper()
	variables := map[string]string{}
	for _, each := range container["env"].([]any) {
		name, value := each.(object)["name"].(string), each.(object)["value"]
		require.NotContains(t, variables, name)
		require.IsType(t, "", value, name)
		variables[name] = value.(string)
	}
	return variables
}

func TestChartIsTheExample(t *testing.T) {
	text, err := os.ReadFile("../../../deploy/kubernetes.yaml")
	require.NoError(t, err)
	objects := render(t, nil)
	require.Len(t, objects, 2)
	for _, want := range readYAML(t, text) {
		kind := want["kind"].(string)
		if kind == "Deployment" {
			_, _ = pod(t, want)
			_, _ = pod(t, objects[kind])
		}
		require.Equal(t, want, objects[kind], kind)
	}
}

func TestChartValues(t *testing.T) {
	objects := render(t, object{
		"image": object{"repository": "registry.local/serve", "tag": "0.1.0", "pullPolicy": "IfNotPresent"}, "imagePullSecrets": []any{object{"name": "registry"}},
		"replicas": 2, "strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": 0}},
		"environment":     object{"GPUFRAME_SERVE_TABLE": "a=/data/a.parquet\nb=s3://bucket/b.parquet", "GPUFRAME_SERVE_BUDGET": nil, "AWS_REGION": "eu-west-1"},
		"environmentFrom": []any{object{"secretRef": object{"name": "store"}}},
		"gpu":             object{"count": 0}, "data": object{"claim": ""}, "clients": object{"secret": ""}, "tls": object{"secret": "certificate"},
		"ports": object{"flight": 9000}, "service": object{"type": "LoadBalancer", "annotations": object{"a": "b"}},
		"probes": object{"liveness": object{"failureThreshold": 5}}, "nodeSelector": object{"disk": "fast"}, "tolerations": []any{object{"key": "gpu"}},
		"affinity": object{"podAntiAffinity": object{}}, "runtimeClassName": "nvidia", "podAnnotations": object{"c": "d"},
	})
	specification, container := pod(t, objects["Deployment"])
	wanted := object{
		"runtimeClassName": "nvidia", "nodeSelector": object{"disk": "fast"}, "tolerations": []any{object{"key": "gpu"}}, "affinity": object{"podAntiAffinity": object{}},
		"imagePullSecrets": []any{object{"name": "registry"}},
		"volumes":          []any{object{"name": "tls", "secret": object{"secretName": "certificate"}}, object{"name": "temporary", "emptyDir": object{}}},
	}
	for name, want := range wanted {
		require.Equal(t, want, specification[name], name)
	}
	require.Equal(t, map[string]string{
		"GPUFRAME_SERVE_LISTEN": ":9000", "GPUFRAME_SERVE_HEALTH": ":8816", "GPUFRAME_SERVE_CERTIFICATE": "/tls/tls.crt", "GPUFRAME_SERVE_KEY": "/tls/tls.key",
		"GPUFRAME_SERVE_TABLE": "a=/data/a.parquet\nb=s3://bucket/b.parquet", "GPUFRAME_SERVE_DRAIN": "30s", "AWS_REGION": "eu-west-1",
		"GPUFRAME_SERVE_DEVICE": "host", "NVIDIA_VISIBLE_DEVICES": "void",
	}, variablesOf(t, container))
	require.Equal(t, "registry.local/serve:0.1.0", container["image"])
	require.Equal(t, "IfNotPresent", container["imagePullPolicy"])
	require.Equal(t, object{"memory": "32Gi"}, container["resources"].(object)["limits"])
	require.Equal(t, 5, container["livenessProbe"].(object)["failureThreshold"])
	require.Equal(t, 10, container["livenessProbe"].(object)["periodSeconds"])
	require.Equal(t, []any{object{"secretRef": object{"name": "store"}}}, container["envFrom"])
	service := objects["Service"]["spec"].(object)
	require.Equal(t, "LoadBalancer", service["type"])
	require.Equal(t, 9000, service["ports"].([]any)[0].(object)["port"])
}

// TestChartNames has variables that are those of flags, and the version of the module.
func TestChartNames(t *testing.T) {
	known := map[string]bool{}
	newCommand().Flags().VisitAll(func(f *pflag.Flag) { known[variable(f.Name)] = true })
	for _, file := range []string{"values.yaml", "templates/deployment.yaml"} {
		text, err := os.ReadFile(filepath.Join(chartFolder, file))
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`GPUFRAME_SERVE_[A-Z]+`).FindAllString(string(text), -1) {
			require.True(t, known[name], "%s of %s is no variable of a flag", name, file)
		}
	}
	text, err := os.ReadFile(filepath.Join(chartFolder, "Chart.yaml"))
	require.NoError(t, err)
	chart := readYAML(t, text)[0]
	require.Equal(t, strings.TrimPrefix(gpuframe.Version, "v"), chart["version"])
	require.Equal(t, chart["version"], chart["appVersion"])
}
