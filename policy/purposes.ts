/** Purposes of use of HL7 (v3 PurposeOfUse) that state an emergency: emergency treatment, break the glass. */
export const EMERGENCY_PURPOSES: readonly string[] = ['ETREAT', 'BTG'];

/** Purposes of use of HL7 (v3 PurposeOfUse) that are research. */
export const RESEARCH_PURPOSES: readonly string[] = [
  'HRESCH',
  'BIORCH',
  'CLINTRCH',
  'CLINTRCHNPC',
  'CLINTRCHPC',
  'DSRCH',
  'POARCH',
  'PRECLINTRCH',
  'TRANSRCH',
];

/** All others of HL7: treatment, operations, payment, requests of patients, public health, marketing. */
const OTHER_PURPOSES = `PurposeOfUse
  TREAT CLINTRL COC ETREAT BTG ERTREAT POPHLTH TREATDS CAREMGT
  HMARKT HOPERAT DONAT FRAUD GOV HACCRED HCOMPL HDECD HDIRECT HDM HLEGAL HOUTCOMS HPRGRP HQUALIMP HSYSADMIN LABELING
  METAMGT MEMADMIN MILCDM PATADMIN PATSFTY PERFMSR RECORDMGT SYSDEV HTEST TRAIN
  HPAYMT CLMATTCH COVAUTH COVERAGE ELIGDTRM ELIGVER ENROLLM MILDCRG REMITADV
  PATRQT FAMRQT PWATRNY SUPNWK PUBHLTH DISASTER THREAT`.split(/\s+/);

/** What a token may say that it is for: codes of HL7 v3 PurposeOfUse. */
export const PURPOSES_OF_USE: readonly string[] = [...RESEARCH_PURPOSES, ...OTHER_PURPOSES];
