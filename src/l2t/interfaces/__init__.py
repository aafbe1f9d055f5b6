"""The interfaces: the command line, the dashboard and the scikit-learn estimators."""
