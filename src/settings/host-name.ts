/** A host as `Host` and URLs write it, with or without port: RFC 3986, section 3.2, without what names cannot hold. */
export const HOST_NAME = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;
