import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ErrorCode } from '../../../openehr/base/errors.js';
import { CdrError } from '../../../openehr/base/errors.js';
import {
  errorFormat,
  formatParameter,
  requestBody,
  responseBody,
  usesStdWord,
  type ResourceKind,
} from '../../../routes/http/negotiation/media-type.js';

function refusal(work: () => unknown): [ErrorCode, string] {
  try {
    work();
  } catch (error) {
    if (error instanceof CdrError) return [error.code, error.message];
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('formatParameter', () => {
  it('knows the four formats in any letter case', () => {
    expect(['JSON', 'xml', 'Flat', 'STRUCTURED', '', undefined].map(formatParameter)).toEqual([
      'JSON',
      'XML',
      'FLAT',
      'STRUCTURED',
      null,
      null,
    ]);
  });

  it('tells formats of other products from unknown words', () => {
    expect(refusal(() => formatParameter('ECISFLAT'))).toEqual(['invalid', 'Format ECISFLAT not supported']);
    expect(refusal(() => formatParameter('RAW'))).toEqual(['invalid', 'Format RAW not supported']);
    expect(refusal(() => formatParameter('Toast'))).toEqual([
      'not-acceptable',
      'Invalid compositions format [Toast] only [XML, JSON, FLAT, STRUCTURED] are supported at the moment',
    ]);
  });
});

describe('requestBody', () => {
  it.each<[ResourceKind, string | undefined, string]>([
    ['rm', undefined, 'JSON'],
    ['rm', 'application/json; charset=UTF-8', 'JSON'],
    ['rm', 'Application/XML;charset="utf-8"', 'XML'],
    ['composition', 'application/openehr.wt.flat+json', 'FLAT'],
    ['composition', 'application/std.wt.flat.schema+json', 'FLAT'],
    ['composition', 'application/openEHR.wt.structured.schema+json', 'STRUCTURED'],
    ['composition', 'application/openehr.wt.structured+json', 'STRUCTURED'],
    ['composition', 'application/openehr.wt.flat.structured+json', 'STRUCTURED'],
    ['template-upload', undefined, 'XML'],
    ['template-upload', 'text/xml', 'XML'],
    ['stored-query', undefined, 'TEXT'],
    ['stored-query', 'application/json', 'JSON'],
    ['query', '', 'JSON'],
    ['item-tag', 'application/json', 'JSON'],
    ['admin-template', 'application/xml', 'XML'],
  ])('of %s with type %s is %s', (kind, contentType, format) => {
    expect(requestBody(kind, contentType).format).toBe(format);
  });

  it.each<[ResourceKind, string]>([
    ['rm', 'application/openehr.wt.flat+json'],
    ['rm', 'text/plain'],
    ['rm', 'application/json; charset=iso-8859-1'],
    ['composition', 'application/xml;charset=UTF-16'],
    ['template-upload', 'application/json'],
    ['stored-query', 'application/xml'],
    ['query', 'nonsense'],
  ])('of %s cannot have the type %s', (kind, contentType) => {
    expect(refusal(() => requestBody(kind, contentType))[0]).toBe('unsupported-media-type');
  });

  it('is refined by format where the type is JSON', () => {
    expect(requestBody('composition', 'application/json', 'FLAT').format).toBe('FLAT');
    expect(requestBody('composition', 'application/json', 'structured').format).toBe('STRUCTURED');
    expect(requestBody('composition', undefined, 'XML').format).toBe('XML');
    expect(requestBody('composition', 'application/openehr.wt.flat+json', 'FLAT').format).toBe('FLAT');
  });

  it('is refused where format contradicts the type', () => {
    for (const [type, format] of [
      ['application/xml', 'FLAT'],
      ['application/json', 'XML'],
      ['application/openehr.wt.flat+json', 'STRUCTURED'],
      ['application/openehr.wt.flat+json', 'JSON'],
    ] as const)
      expect(refusal(() => requestBody('composition', type, format))[0]).toBe('not-acceptable');
  });

  it('ignores format where the resource has none', () => {
    expect(requestBody('rm', 'application/json', 'FLAT').format).toBe('JSON');
  });
});

describe('responseBody', () => {
  it.each<[ResourceKind, string | undefined, string, string]>([
    ['rm', undefined, 'JSON', 'application/json'],
    ['rm', '*/*', 'JSON', 'application/json'],
    ['rm', 'application/*', 'JSON', 'application/json'],
    ['rm', 'application/xml', 'XML', 'application/xml'],
    ['rm', 'application/json;q=0.5, application/xml', 'XML', 'application/xml'],
    ['rm', 'application/xml, application/json', 'XML', 'application/xml'],
    ['rm', 'application/json;q=0, */*', 'XML', 'application/xml'],
    ['rm', 'text/html, application/xml;q=0.9, */*;q=0.8', 'XML', 'application/xml'],
    ['rm', 'text/html, */*;q=0.1', 'JSON', 'application/json'],
    ['rm', 'garbage, application/xml', 'XML', 'application/xml'],
    ['template', undefined, 'XML', 'application/xml'],
    ['template', 'application/json', 'WEB_TEMPLATE', 'application/json'],
    ['template', 'application/std.wt+json', 'WEB_TEMPLATE', 'application/std.wt+json'],
    ['template', 'text/plain', 'TEXT', 'text/plain'],
    ['template-list', undefined, 'JSON', 'application/json'],
    ['template-upload', undefined, 'XML', 'application/xml'],
    ['web-template', undefined, 'WEB_TEMPLATE', 'application/openehr.wt+json'],
    [
      'composition',
      'application/openehr.wt.flat.schema+json',
      'FLAT',
      'application/openehr.wt.flat.schema+json',
    ],
    ['composition', 'application/STD.wt.structured+json', 'STRUCTURED', 'application/STD.wt.structured+json'],
    ['admin-template', 'application/json', 'JSON', 'application/json'],
  ])('of %s for %s is %s as %s', (kind, accept, format, mediaType) => {
    expect(responseBody(kind, accept)).toEqual({ format, mediaType });
  });

  it.each<[ResourceKind, string]>([
    ['rm', 'text/html'],
    ['rm', 'application/json;q=0'],
    ['rm', 'application/json;q=2'],
    ['query', 'application/xml'],
    ['rm', 'application/openehr.wt.flat+json'],
  ])('of %s cannot satisfy %s', (kind, accept) => {
    expect(refusal(() => responseBody(kind, accept))[0]).toBe('not-acceptable');
  });

  it('follows format where Accept is open', () => {
    expect(responseBody('composition', undefined, { format: 'FLAT' })).toEqual({
      format: 'FLAT',
      mediaType: 'application/openehr.wt.flat+json',
    });
    expect(responseBody('composition', '*/*', { format: 'XML' }).format).toBe('XML');
    expect(responseBody('template-example', '*/*', { format: 'STRUCTURED', vendorWord: 'std' })).toEqual({
      format: 'STRUCTURED',
      mediaType: 'application/std.wt.structured+json',
    });
  });

  it('refines application/json by format and keeps that name', () => {
    expect(responseBody('composition', 'application/json', { format: 'FLAT' })).toEqual({
      format: 'FLAT',
      mediaType: 'application/json',
    });
    expect(
      responseBody('composition', undefined, {
        format: 'FLAT',
        contentType: 'application/json; charset=utf-8',
      }),
    ).toEqual({ format: 'FLAT', mediaType: 'application/json' });
  });

  it('repeats the vendor name of the request', () => {
    const contentType = 'application/std.wt.flat.schema+json';
    expect(responseBody('composition', '*/*', { format: 'FLAT', contentType }).mediaType).toBe(contentType);
  });

  it('is refused where format contradicts Accept', () => {
    for (const [accept, format] of [
      ['application/xml', 'FLAT'],
      ['application/json', 'XML'],
      ['application/openehr.wt.flat+json', 'STRUCTURED'],
    ] as const)
      expect(refusal(() => responseBody('composition', accept, { format }))[0]).toBe('not-acceptable');
  });

  it('takes the entry of Accept that agrees with format', () => {
    expect(
      responseBody('composition', 'application/json, application/xml;q=0.1', { format: 'XML' }).format,
    ).toBe('XML');
  });
});

describe('headers of any content', () => {
  it('are validated, never crashed on', () => {
    const piece = fc.constantFrom(
      'application/json',
      'xml',
      '/',
      '*',
      ';q=',
      '0.5',
      ',',
      ';',
      ' ',
      '"',
      'charset=',
      '1',
      '',
    );
    const header = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(header, header, (accept, contentType) => {
        for (const work of [
          () => responseBody('composition', accept, { contentType }),
          () => requestBody('rm', contentType),
          () => errorFormat(accept),
        ])
          try {
            work();
          } catch (error) {
            expect(error).toBeInstanceOf(CdrError);
          }
      }),
    );
  });
});

describe('errorFormat', () => {
  it('is JSON unless only XML is taken', () => {
    expect(
      [undefined, '*/*', 'application/xml', 'application/xml, application/json;q=0.1', 'text/html'].map(
        errorFormat,
      ),
    ).toEqual(['JSON', 'JSON', 'XML', 'JSON', 'JSON']);
  });
});

describe('usesStdWord', () => {
  it('finds the word in any entry', () => {
    expect(usesStdWord('text/xml, application/STD.wt+json')).toBe(true);
    expect(usesStdWord('application/openehr.wt+json')).toBe(false);
    expect(usesStdWord(undefined)).toBe(false);
  });
});
