{{/* Labels that never change, by which pods are found. Takes root and name. */}}
{{- define "temper.selector" -}}
app.kubernetes.io/name: temper
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "temper.labels" -}}
{{ include "temper.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "temper.image" -}}
{{- $tag := .tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- printf "%s%s%s" .root.Values.image.repository (ternary "@" ":" (hasPrefix "sha256:" $tag)) $tag }}
{{- end }}

{{/* What a container may not do, and where its settings come from. Takes root, settings and, where a group has one, secret. */}}
{{- define "temper.container" -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - secretRef: { name: {{ printf "%s-shared" .root.Values.settings.prefix | quote }} }
  - secretRef: { name: {{ printf "%s-%s" .root.Values.settings.prefix .settings | quote }} }
  {{- with .secret }}
  - secretRef: { name: {{ . | quote }} }
  {{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  {{- if .root.Values.settings.files }}
  - { name: files, mountPath: /etc/temper, readOnly: true }
  {{- end }}
  {{- if .volume }}
  - { name: images, mountPath: /var/lib/temper/boot }
  {{- end }}
{{- end }}

{{- define "temper.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
volumes:
  - { name: tmp, emptyDir: {} }
  {{- if .root.Values.settings.files }}
  - { name: files, secret: { secretName: {{ .root.Values.settings.files | quote }}, defaultMode: 0440 } }
  {{- end }}
  {{- with .volume }}
  - name: images
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/*
A process that stays: its deployment and its disruption budget. Takes root, name, command, settings, replicas, resources, stops (seconds),
and where it has them tag, env, named (its own name as a worker is the pod's), ports, secret, volume, nodeSelector.
*/}}
{{- define "temper.process" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ printf "%s-%s" .root.Release.Name .name }}
  labels: {{ include "temper.labels" . | nindent 4 }}
spec:
  replicas: {{ .replicas }}
  # A new one is ready before an old one ends.
  strategy: { type: RollingUpdate, rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  selector:
    matchLabels: {{ include "temper.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "temper.labels" . | nindent 8 }}
    spec:
      {{- include "temper.pod" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ .stops }}
      {{- with .nodeSelector }}
      nodeSelector: {{ toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {{ include "temper.selector" . | nindent 14 }}
      containers:
        - name: {{ .settings }}
          image: {{ include "temper.image" . | quote }}
          args: {{ toJson .command }}
          {{- include "temper.container" . | nindent 10 }}
          env:
            - { name: TEMPER_HEALTH_HOST, value: 0.0.0.0 }
            - { name: TEMPER_HEALTH_PORT, value: '9090' }
            {{- if .named }}
            - { name: TEMPER_WORKER_HOSTNAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
            {{- end }}
            {{- range $key, $value := .env }}
            - { name: {{ $key }}, value: {{ $value | quote }} }
            {{- end }}
          ports:
            - { name: health, containerPort: 9090 }
            {{- range $name, $port := .ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
            {{- end }}
          startupProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 2, failureThreshold: 60 }
          readinessProbe: { httpGet: { path: /readyz, port: health }, periodSeconds: 5, timeoutSeconds: 5 }
          livenessProbe: { httpGet: { path: /healthz, port: health }, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 }
          resources: {{ toYaml .resources | nindent 12 }}
{{- if gt (int .replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ printf "%s-%s" .root.Release.Name .name }}
  labels: {{ include "temper.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ include "temper.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{/* Takes root, name and service; where they differ, pods (whose pods) and target (which of their ports). */}}
{{- define "temper.service" -}}
{{- $name := printf "%s-%s" .root.Release.Name .name }}
{{- if gt (len $name) 63 }}{{ fail (printf "the service %s has %d characters, and Kubernetes admits 63: choose a shorter name of the release, or of the group" $name (len $name)) }}{{ end -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels: {{ include "temper.labels" . | nindent 4 }}
  {{- with .service.annotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .service.type }}
  {{- if and .service.externalTrafficPolicy (ne .service.type "ClusterIP") }}
  externalTrafficPolicy: {{ .service.externalTrafficPolicy }}
  {{- end }}
  selector: {{ include "temper.selector" (dict "root" .root "name" (.pods | default .name)) | nindent 4 }}
  ports:
    - { name: http, port: {{ .service.port }}, targetPort: {{ .target | default "http" }} }
{{- end }}
