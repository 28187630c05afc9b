package lint_test

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"

	"github.com/gpuframe/gpuframe/deploy/lint"
)

const chartFolder = "../helm/gpuframe-serve"

type object = map[string]any

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

// A fault replaces a part of a file, and a part of the error that the lint then returns.
type fault struct{ from, to, want string }

// plant returns the text with the fault. Its part must occur in the text, so that a fault cannot be forgotten.
func (f fault) plant(t *testing.T, text []byte) []byte {
	t.Helper()
	require.Contains(t, string(text), f.from)
	return []byte(strings.Replace(string(text), f.from, f.to, 1))
}

// check requires no error for the text, and the error of each fault for the text with it.
func check(t *testing.T, text []byte, faults []fault, lint func(*testing.T, []byte) error) {
	require.NoError(t, lint(t, text))
	for _, each := range faults {
		t.Run(each.want, func(t *testing.T) { require.ErrorContains(t, lint(t, each.plant(t, text)), each.want) })
	}
}

func TestManifests(t *testing.T) {
	faults := []fault{
		{"livenessProbe:", "liveness:", `unknown field "spec.template.spec.containers[0].liveness"`},
		{"runAsNonRoot: true", "runAsNonRoot: yes please", "cannot unmarshal string into Go struct field"},
		{"memory: 32Gi", "memory: 32Gib", "quantities must match"},
		{"  replicas: 1", "  replicas: 1\n  replicas: 2", `already set in map`},
		{"kind: Service", "kind: Servise", `no kind "Servise" is registered`},
		{"matchLabels: {app: gpuframe-serve}", "matchLabels: {app: serve}", "does not select its pods"},
		{"selector: {app: gpuframe-serve}", "selector: {app: serve}", "service gpuframe-serve selects no pods"},
		{"targetPort: flight", "targetPort: flights", "has the port flights"},
		{"path: /readyz, port: health", "path: /readyz, port: 8817", "readinessProbe of container serve: no port 8817"},
		{"httpGet: {path: /readyz, port: health}", "tcpSocket: {port: 8817}", "readinessProbe of container serve: no port 8817"},
		{"selector: {app: gpuframe-serve}", "selector: {}", "service gpuframe-serve has no selector"},
		{"- {name: data, mountPath", "- {name: files, mountPath", `mounts "files"`},
		{"- name: clients", "- name: Clients", `volume "Clients"`},
		{"name: GPUFRAME_SERVE_DRAIN", "name: GPUFRAME_SERVE_LISTEN", "two values of GPUFRAME_SERVE_LISTEN"},
		{"containerPort: 8815", "containerPort: 88150", "between 1 and 65535"},
		{"requests: {cpu: \"4\", memory: 16Gi}", "requests: {memory: 64Gi}", "requests 64Gi of memory"},
	}
	check(t, read(t, "../kubernetes.yaml"), faults, func(_ *testing.T, text []byte) error { return lint.Manifests(text) })
}

// byKind returns the objects of a text. The variables of containers are in the order of their names.
func byKind(t *testing.T, text []byte) map[string]runtime.Object {
	t.Helper()
	objects, err := lint.Decode(text)
	require.NoError(t, err)
	kinds := map[string]runtime.Object{}
	for _, each := range objects {
		if deployment, ok := each.(*apps.Deployment); ok {
			slices.SortFunc(deployment.Spec.Template.Spec.Containers[0].Env, func(a, b core.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
		}
		kinds[each.GetObjectKind().GroupVersionKind().Kind] = each
	}
	return kinds
}

// TestChartIsTheExample compares what Helm renders with kubernetes.yaml, as objects of Kubernetes.
func TestChartIsTheExample(t *testing.T) {
	text, err := lint.Render(t.Context(), chartFolder, "gpuframe-serve", nil)
	require.NoError(t, err)
	rendered, example := byKind(t, text), byKind(t, read(t, "../kubernetes.yaml"))
	require.Len(t, rendered, len(example))
	for kind, want := range example {
		require.True(t, equality.Semantic.DeepEqual(want, rendered[kind]), "%s: %s", kind, diff.Diff(want, rendered[kind]))
	}
}

// TestChartValues lints the chart with the parts that values.yaml leaves out, and without those that it has.
func TestChartValues(t *testing.T) {
	for name, values := range map[string]object{
		"own":  nil,
		"host": {"gpu": object{"count": 0}},
		"all": {
			"image": object{"repository": "registry.local/serve", "tag": 1.5, "pullPolicy": "IfNotPresent"}, "imagePullSecrets": []any{object{"name": "registry"}},
			"replicas": 2, "strategy": object{"type": "RollingUpdate", "rollingUpdate": object{"maxSurge": 0}},
			"environment":     object{"GPUFRAME_SERVE_TABLE": "a=/data/a.parquet\nb=s3://bucket/b.parquet", "AWS_REGION": "eu-west-1", "GPUFRAME_SERVE_ANONYMOUS": true},
			"environmentFrom": []any{object{"secretRef": object{"name": "store"}}}, "tls": object{"secret": "certificate"},
			"ports": object{"flight": 9000}, "service": object{"type": "LoadBalancer", "annotations": object{"a": "b"}},
			"probes": object{"liveness": object{"failureThreshold": 5}}, "nodeSelector": object{"disk": "fast"},
			"tolerations": []any{object{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}}, "podAnnotations": object{"c": "d"},
			"affinity": object{"podAntiAffinity": object{}}, "runtimeClassName": "nvidia", "fullnameOverride": "sales",
		},
		"nothing": {
			"service": nil, "gpu": nil, "resources": nil, "data": nil, "clients": nil, "tls": nil, "probes": nil, "strategy": nil,
			"ports": object{"health": nil}, "terminationGracePeriodSeconds": nil,
		},
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, lint.Chart(t.Context(), chartFolder, values)) })
	}
}

// TestChartFaults plants one in each file of the chart.
func TestChartFaults(t *testing.T) {
	for file, faults := range map[string][]fault{
		"Chart.yaml":  {{"version: ", "version: v", "version"}, {"apiVersion: v2", "apiVersion: v3", "apiVersion"}},
		"values.yaml": {{"replicas: 1", "replicas 1", "values.yaml"}, {"terminationGracePeriodSeconds: 45", "", "terminationGracePeriodSeconds"}},
		"templates/service.yaml": {
			{"targetPort: flight", "target: flight", `unknown field "spec.ports[0].target"`},
			{"  ports:", " ports:", "templates/service.yaml"},
		},
		"templates/deployment.yaml": {
			{"automountServiceAccountToken", "automountToken", `unknown field "spec.template.spec.automountToken"`},
			{"{{- with .Values.strategy }}", "{{- with .Values.strategies }}", "strategies"},
			{"{{- with .Values.strategy }}", "{{- with .Values.strategy }", "templates/deployment.yaml"},
		},
	} {
		check(t, read(t, filepath.Join(chartFolder, file)), faults, func(t *testing.T, text []byte) error {
			folder := filepath.Join(t.TempDir(), "gpuframe-serve")
			require.NoError(t, os.CopyFS(folder, os.DirFS(chartFolder)))
			require.NoError(t, os.WriteFile(filepath.Join(folder, file), text, 0o600))
			return lint.Chart(t.Context(), folder, nil)
		})
	}
}

func TestDockerfile(t *testing.T) {
	faults := []fault{
		{"COPY --from=build", "COPY --from=builder", "library/builder:latest is no stage"},
		{"EXPOSE 8815 8816", "EXPOSES 8815 8816", "unknown instruction: EXPOSES"},
		{`["/usr/bin/gpuframe-serve"]`, "/usr/bin/gpuframe-serve", "JSONArgsRecommended"},
		{"USER nonroot", "ENV TABLES=$TABEL", "UndefinedVar"},
		{"USER nonroot", "ENV GPUFRAME_TOKEN=secret", "SecretsUsedInArgOrEnv"},
		{"WORKDIR /src", "WORKDIR src", "WorkdirRelativePath"},
	}
	check(t, read(t, "../Dockerfile"), faults, func(t *testing.T, text []byte) error { return lint.Dockerfile(t.Context(), text) })
}

func TestUnit(t *testing.T) {
	faults := []fault{
		{"DynamicUser=yes", "DynamicUsers=yes", "Unknown key"},
		{"TimeoutStopSec=45", "TimeoutStopSec=soon", "Failed to parse time value"},
		{"ExecStart=/usr/bin/", "ExecStart=./", "nor an absolute path"},
		{"[Service]", "[Services]", "Services"},
		{"CapabilityBoundingSet=", "AmbientCapabilities=CAP_SYS_ADMIN", "exposure is above"},
	}
	const name = "gpuframe-serve.service"
	text := read(t, "../"+name)
	if err := lint.Unit(t.Context(), name, text); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("systemd is not installed here, .ci/run installs it: %v", err)
	}
	check(t, text, faults, func(t *testing.T, text []byte) error { return lint.Unit(t.Context(), name, text) })
}
