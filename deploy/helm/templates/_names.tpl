{{- define "everchart.selector" -}}
app.kubernetes.io/name: everchart
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "everchart.labels" -}}
{{ include "everchart.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
