/** HTML page of Swagger UI for the OpenAPI document. */

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/**
 * @param files path of scripts and styles
 * @param document path of the OpenAPI document
 */
export const descriptionPage = (files: string, document: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Temper: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escaped(files)}/swagger-ui.css">
</head>
<body>
<div id="description" data-document="${escaped(document)}"></div>
<script src="${escaped(files)}/swagger-ui-bundle.js"></script>
<script src="${escaped(files)}/start.js"></script>
</body>
</html>
`;

/** Without validator, so that nothing is sent to another host. */
export const start = `'use strict';
window.SwaggerUIBundle({
  url: document.getElementById('description').dataset.document,
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  showExtensions: true,
  showCommonExtensions: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;
