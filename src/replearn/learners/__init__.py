"""scikit-learn meta-estimators, one algorithm per file."""
