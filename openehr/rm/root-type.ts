/** Class at the root of a versioned object in an EHR: the content of a VERSIONED_COMPOSITION, -EHR_STATUS or -FOLDER. */
export type RootType = 'COMPOSITION' | 'EHR_STATUS' | 'FOLDER';

/** All of them. */
export const ROOT_TYPES: readonly RootType[] = ['COMPOSITION', 'EHR_STATUS', 'FOLDER'];
