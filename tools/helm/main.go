// Reads a Helm chart as helm does: lints it, renders it with values, and reads each document that comes out as the API server
// of Kubernetes would, unknown and repeated fields refused. Prints {"faults": [...], "kinds": {"Deployment": 4, ...}, "documents": [...]}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

type verdict struct {
	Faults    []string         `json:"faults"`
	Kinds     map[string]int   `json:"kinds"`
	Documents []map[string]any `json:"documents"`
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: program CHART [VALUES.yaml ...]")
		os.Exit(2)
	}
	said := verdict{Faults: []string{}, Kinds: map[string]int{}, Documents: []map[string]any{}}
	said.judge(os.Args[1], os.Args[2:])
	json.NewEncoder(os.Stdout).Encode(said)
}

func (said *verdict) fault(err error) { said.Faults = append(said.Faults, err.Error()) }

func (said *verdict) judge(folder string, files []string) {
	values, err := valuesOf(files)
	if err != nil {
		said.fault(err)
		return
	}
	for _, message := range lint.All(folder, values, "temper", true).Messages {
		if message.Severity >= support.WarningSev {
			said.fault(fmt.Errorf("%s: %w", message.Path, message.Err))
		}
	}
	rendered, err := render(folder, values)
	if err != nil {
		said.fault(err)
		return
	}
	said.read(rendered)
}

// Later files win, as with helm's own -f.
func valuesOf(files []string) (map[string]any, error) {
	values := map[string]any{}
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		more := map[string]any{}
		if err := yaml.UnmarshalStrict(bytes, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		values = chartutil.CoalesceTables(more, values)
	}
	return values, nil
}

func render(folder string, values map[string]any) (map[string]string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: "temper", Namespace: "temper", Revision: 1, IsInstall: true}
	whole, err := chartutil.ToRenderValues(chart, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, whole)
}

func (said *verdict) read(rendered map[string]string) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
		monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			said.fault(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	names := []string{}
	for name := range rendered {
		if strings.HasSuffix(name, ".yaml") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		for _, text := range strings.Split("\n"+rendered[name], "\n---\n") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			_, kind, err := decoder.Decode([]byte(text), nil, nil)
			if err != nil {
				said.fault(fmt.Errorf("%s: %w", name, err))
				continue
			}
			said.Kinds[kind.Kind]++
			document := map[string]any{}
			if err := yaml.Unmarshal([]byte(text), &document); err == nil {
				said.Documents = append(said.Documents, document)
			}
		}
	}
}
